export const CONTENT = 'content'

/** Moves the focus to the page, because the element that has it may disappear. Nothing scrolls. */
export function focusContent(): void {
  document.getElementById(CONTENT)?.focus({ preventScroll: true })
}
