import { useEffect } from 'react'
import { openDialog } from '../history/history.ts'
import { withViewer } from '../session/intents.ts'
import { focusedArticle, moveFocus, pageArticle } from './articles.ts'

export type FeedAction = 'next' | 'previous' | 'like' | 'reply' | 'new-post' | 'shortcuts'

type Pressed = Pick<KeyboardEvent, 'code' | 'key' | 'shiftKey' | 'ctrlKey' | 'metaKey' | 'altKey'>

/** By the position of the key, not by its letter: on ЙЦУКЕН the J key types «о». */
const BY_CODE: Record<string, FeedAction> = {
  KeyJ: 'next',
  KeyK: 'previous',
  KeyL: 'like',
  KeyR: 'reply',
  KeyN: 'new-post',
}

const TYPING = 'input, textarea, select, [contenteditable]:not([contenteditable="false"])'
const OPEN_POPUP = 'dialog[open], [role="menu"], [role="listbox"]'

export function useFeedKeys(): void {
  useEffect(() => {
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
}

export function feedAction(event: Pressed): FeedAction | null {
  if (event.ctrlKey || event.metaKey || event.altKey) return null
  // On ЙЦУКЕН «?» is Shift+7; its Latin position works too.
  if (event.key === '?' || (event.shiftKey && event.code === 'Slash')) return 'shortcuts'
  return event.shiftKey ? null : (BY_CODE[event.code] ?? null)
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || isForOther(event.target)) return
  const step = pageStep(event)
  const action = feedAction(event)
  const mayRepeat = action === 'next' || action === 'previous'
  if (!step && (!action || (event.repeat && !mayRepeat))) return
  event.preventDefault()
  if (step) moveFocus(step)
  else if (action) perform(action)
}

/** A press may be meant for a text input, or for a dialog or menu that is open. */
function isForOther(target: EventTarget | null): boolean {
  const typing = target instanceof Element && target.closest(TYPING) !== null
  return typing || document.querySelector(OPEN_POPUP) !== null
}

/** Page Up and Page Down step between articles, as in any ARIA feed, once the focus is in one. */
function pageStep({ key, ctrlKey, altKey }: KeyboardEvent): 1 | -1 | null {
  if (ctrlKey || altKey || !focusedArticle()) return null
  if (key === 'PageDown') return 1
  return key === 'PageUp' ? -1 : null
}

function perform(action: FeedAction): void {
  if (action === 'next') moveFocus(1)
  else if (action === 'previous') moveFocus(-1)
  else if (action === 'new-post') void withViewer({ name: 'new-post' })
  else if (action === 'shortcuts') openDialog({ name: 'shortcuts' })
  else pressButton(action)
}

function pressButton(action: 'like' | 'reply'): void {
  const article = focusedArticle() ?? pageArticle()
  article?.querySelector<HTMLElement>(`[data-action="${action}"]`)?.click()
}
