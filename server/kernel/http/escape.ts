const NOT_XML = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, numericReference)
}

/** Escapes text for XML 1.0. U+FFFD replaces each character that it forbids. */
export function escapeXml(text: string): string {
  // In an attribute, a parser would replace unescaped tabs and line breaks by spaces.
  return text.replace(NOT_XML, '\ufffd').replace(/[&<>"'\t\n\r]/g, numericReference)
}

/** Returns JSON that cannot end the HTML element it stands in. */
export function escapeJson(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c')
}

function numericReference(character: string): string {
  return `&#${character.charCodeAt(0)};`
}
