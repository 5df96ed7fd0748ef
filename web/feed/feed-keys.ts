import { useEffect } from 'react'
import { openDialog } from '../viewer/dialogs.ts'
import { withViewer } from '../viewer/intents.ts'
import { focusedArticle, moveFocus, pageArticle } from './articles.ts'

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

const TYPING = 'input, textarea, select, [contenteditable]:not([contenteditable="false"])'
const IN_FRONT = 'dialog[open], [role="menu"], [role="listbox"]'

/** Makes the shortcuts work on every page, as long as nothing stands in front of it. Used once, for all of them. */
export function useFeedKeys(): void {
  useEffect(() => {
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
}

/** What a key press asks of a feed; null for anything else, any combination with Ctrl, Alt or Cmd included. */
export function feedKey(event: Pressed): FeedKey | null {
  if (event.ctrlKey || event.metaKey || event.altKey) return null
  // «?» stands on Shift+7 on ЙЦУКЕН; who knows its Latin place may press that.
  if (event.key === '?' || (event.shiftKey && event.code === 'Slash')) return 'shortcuts'
  return event.shiftKey ? null : (BY_CODE[event.code] ?? null)
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || isElsewhere(event.target)) return
  const step = pageStep(event)
  const key = feedKey(event)
  if (!step && (!key || (event.repeat && key !== 'next' && key !== 'previous'))) return
  event.preventDefault()
  if (step) moveFocus(step)
  else if (key) answer(key)
}

function isElsewhere(target: EventTarget | null): boolean {
  const typing = target instanceof Element && target.closest(TYPING) !== null
  return typing || document.querySelector(IN_FRONT) !== null
}

/** Page Up and Page Down step between articles, as in any ARIA feed, once the focus is in one. */
function pageStep({ key, ctrlKey, altKey }: KeyboardEvent): 1 | -1 | null {
  if (ctrlKey || altKey || !focusedArticle()) return null
  if (key === 'PageDown') return 1
  return key === 'PageUp' ? -1 : null
}

function answer(key: FeedKey): void {
  if (key === 'next') moveFocus(1)
  else if (key === 'previous') moveFocus(-1)
  else if (key === 'new-post') void withViewer({ name: 'new-post' })
  else if (key === 'shortcuts') openDialog({ name: 'shortcuts' })
  else act(key)
}

/** Presses a button of the post in focus, else of the one that the page is about. */
function act(key: 'like' | 'reply'): void {
  const article = focusedArticle() ?? pageArticle()
  article?.querySelector<HTMLElement>(`[data-action="${key}"]`)?.click()
}
