type Pressed = Pick<KeyboardEvent, 'code' | 'key' | 'shiftKey' | 'ctrlKey' | 'metaKey' | 'altKey'>

/** By the position of the key, not by its letter: on ЙЦУКЕН the J key types «о». */
export function shortcutOf(event: Pressed): string | null {
  if (event.ctrlKey || event.metaKey || event.altKey) return null
  // On ЙЦУКЕН «?» is Shift+7; its Latin position works too.
  if (event.key === '?' || (event.shiftKey && event.code === 'Slash')) return '?'
  return event.shiftKey ? null : event.code
}
