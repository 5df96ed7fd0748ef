export type FeedKey = 'next' | 'previous' | 'like' | 'reply' | 'new-post' | 'shortcuts'

type Pressed = Pick<KeyboardEvent, 'code' | 'key' | 'shiftKey' | 'ctrlKey' | 'metaKey' | 'altKey'>

/** By the place of the key, not its letter: on ЙЦУКЕН the J key types «о». */
const BY_CODE: Record<string, FeedKey> = {
  KeyJ: 'next',
  KeyK: 'previous',
  KeyL: 'like',
  KeyR: 'reply',
  KeyN: 'new-post',
}

/** What a key press asks of a feed; null for anything else, any combination with Ctrl, Alt or Cmd included. */
export function feedKey(event: Pressed): FeedKey | null {
  if (event.ctrlKey || event.metaKey || event.altKey) return null
  // «?» stands on Shift+7 on ЙЦУКЕН; who knows its Latin place may press that.
  if (event.key === '?' || (event.shiftKey && event.code === 'Slash')) return 'shortcuts'
  return event.shiftKey ? null : (BY_CODE[event.code] ?? null)
}
