/** The id of the element around every page. */
export const CONTENT = 'content'

/** Gives the focus to the page where the element that had it may be gone. Nothing scrolls. */
export function focusContent(): void {
  document.getElementById(CONTENT)?.focus({ preventScroll: true })
}
