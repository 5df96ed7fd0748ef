import { PATHS } from '../../contract/pages.ts'
import { navigate, openDialog } from '../history/history.ts'
import { openNewPost } from '../session/intents.ts'
import { type Shortcuts, useShortcuts } from '../ui/shortcuts.ts'
import { focusArticle, focusedArticle, pageArticle } from './articles.ts'

const STEPS: Shortcuts = {
  KeyJ: () => focusArticle(1),
  KeyK: () => focusArticle(-1),
  // These keys of an ARIA feed apply only if the focus is in an article.
  PageDown: () => focusedArticle() !== undefined && focusArticle(1),
  PageUp: () => focusedArticle() !== undefined && focusArticle(-1),
}

const ACTIONS: Shortcuts = {
  KeyL: () => press('like'),
  KeyR: () => press('reply'),
  KeyN: openNewPost,
  KeyG: () => navigate(PATHS.received),
  Slash: search,
  '?': () => openDialog({ name: 'shortcuts' }),
}

export function useFeedKeys(): void {
  useShortcuts(STEPS, { repeats: true })
  useShortcuts(ACTIONS)
}

/** Focuses the search field beside the page, or opens the page with one. */
function search(): void {
  const fields = document.querySelectorAll<HTMLInputElement>('search input')
  const shown = [...fields].find((field) => field.checkVisibility())
  if (shown) shown.select()
  else navigate(PATHS.search)
}

/** Clicks the article's own button, which some articles lack. */
function press(action: 'like' | 'reply'): void {
  const article = focusedArticle() ?? pageArticle()
  article?.querySelector<HTMLElement>(`[data-action="${action}"]`)?.click()
}
