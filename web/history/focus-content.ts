export const CONTENT = 'content'

/** Moves the focus to the content before the focused element disappears. Does not scroll. */
export function focusContent(): void {
  document.getElementById(CONTENT)?.focus({ preventScroll: true })
}
