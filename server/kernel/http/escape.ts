/** Characters that XML 1.0 forbids even when they are escaped. */
const NOT_XML = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu

/** Escapes text for HTML, between tags or in a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, numericReference)
}

/**
 * Escapes text for XML 1.0, between tags or in a quoted attribute. U+FFFD replaces each character
 * that XML forbids.
 */
export function escapeXml(text: string): string {
  // A parser would change plain white space other than spaces.
  return text.replace(NOT_XML, '\ufffd').replace(/[&<>"'\t\n\r]/g, numericReference)
}

/** Returns JSON for a data block: HTML finds neither the end of its element nor a comment in it. */
export function escapeJson(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c')
}

function numericReference(character: string): string {
  return `&#${character.charCodeAt(0)};`
}
