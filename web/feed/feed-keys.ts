import { openDialog } from '../history/history.ts'
import { writePost } from '../session/intents.ts'
import { type Shortcuts, useShortcuts } from '../ui/shortcuts.ts'
import { focusedArticle, moveFocus, pageArticle } from './articles.ts'

const STEPS: Shortcuts = {
  KeyJ: () => moveFocus(1),
  KeyK: () => moveFocus(-1),
  // As in any ARIA feed, once the focus is in one.
  PageDown: () => focusedArticle() !== undefined && moveFocus(1),
  PageUp: () => focusedArticle() !== undefined && moveFocus(-1),
}

const ACTIONS: Shortcuts = {
  KeyL: () => press('like'),
  KeyR: () => press('reply'),
  KeyN: writePost,
  '?': () => openDialog({ name: 'shortcuts' }),
}

export function useFeedKeys(): void {
  useShortcuts(STEPS, { repeats: true })
  useShortcuts(ACTIONS)
}

/** Only some articles have the button, which knows what a tap means for the viewer. */
function press(action: 'like' | 'reply'): void {
  const article = focusedArticle() ?? pageArticle()
  article?.querySelector<HTMLElement>(`[data-action="${action}"]`)?.click()
}
