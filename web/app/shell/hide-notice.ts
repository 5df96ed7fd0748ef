/** Hides a notice by a rule of the page, which also holds for what is rendered later. */
export function hideNotice(id: string): void {
  const sheet = new CSSStyleSheet()
  sheet.insertRule(`[data-notice-id="${CSS.escape(id)}"] { display: none }`)
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
}
