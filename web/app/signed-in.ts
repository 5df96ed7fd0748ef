import type { CurrentUser } from '../../contract/account.ts'
import { PATHS, postPath } from '../../contract/pages.ts'
import { isInSight } from '../feed/articles.ts'
import { preloadMenus } from '../feed/post-controls.tsx'
import { openDialog, openedDialog } from '../history/history.ts'
import type { CallError } from '../http/call-error.ts'
import { pageFlags } from '../platform/flags.ts'
import { preload } from '../platform/lazy-chunk.ts'
import { localStore, sessionStore } from '../platform/storage.ts'
import { ARRIVAL_KEY, SIGN_IN_KEY } from '../platform/stored-keys.ts'
import { whenIdle, whenVisible } from '../platform/timing.ts'
import { evictPost, whenListsAreRead } from '../posts/cache/list-cache.ts'
import { putPosts, readCachedPost, setLikes } from '../posts/cache/post-cache.ts'
import type { PostChange } from '../posts/cache/post-channel.ts'
import { replyField } from '../replies/reply-row.tsx'
import { hasEndedBy, viewerId } from '../session/viewer.ts'
import { NEWS, toast } from '../ui/overlay/toaster.tsx'
import { preloadSignIn } from './dialogs.tsx'
import { outboxRow } from './notices/connection-banner.tsx'
import { preloadViewerPages } from './routes.tsx'

const COMPOSERS = new Set<string | undefined>(['new-post', 'reply'])
const NEWS_MS = 3000
const PRELOAD_MS = 2000

/** Greets a user once the page is visible, and fetches what their next taps may need. */
export async function greetUser(user: CurrentUser): Promise<void> {
  // Removes the stored sign-in even if it was for another account.
  localStore.remove(SIGN_IN_KEY)
  delete pageFlags().codeSent
  whenVisible(() => greet(user))
  await whenListsAreRead()
  whenIdle(() => void preloadFor(user), PRELOAD_MS)
}

function greet({ id, username, ...news }: CurrentUser): void {
  // Another tab may have signed the user out while this one was hidden.
  if (viewerId() !== id) return
  const arrival = sessionStore.read(ARRIVAL_KEY)
  sessionStore.remove(ARRIVAL_KEY)
  if (arrival === 'returned') toast({ text: 'С возвращением' }, NEWS)
  // The composer shows the new name in a line of its own.
  else if (arrival && !COMPOSERS.has(openedDialog.get()?.name)) {
    const link = { label: 'Выбрать имя', to: PATHS.username }
    toast({ text: `Теперь вы ${username}`, pageOnly: true, link }, NEWS)
  }
  const { hasNewOutcomes = false, lastRemoval } = news
  if (hasNewOutcomes || lastRemoval) {
    const tell = async () =>
      (await import('../moderation/outcomes/new-outcomes.ts')).showDecisions(
        hasNewOutcomes,
        lastRemoval,
      )
    whenIdle(() => void preload(tell), NEWS_MS)
  }
}

/** Shows a toast if the post that was liked is out of sight: it may be far above or below. */
export async function showLiked(postId: string): Promise<void> {
  // Waits until the list has scrolled to its anchor.
  await whenListsAreRead()
  await new Promise<void>((resolve) => whenIdle(resolve, PRELOAD_MS))
  if (isInSight(postId)) return
  const link = { label: 'Смотреть', to: postPath(postId) }
  toast({ text: 'Добавлено в «Понравившиеся»', link })
}

/** Shows that the session has ended. A moderator's reason is shown by the RestrictionNotice. */
export function offerSignIn(error: CallError): void {
  const { code, message } = error
  // Who logs out of a session that is gone is out, as wanted.
  if (message.includes('Причина: ') || !hasEndedBy(error)) return
  // `pageOnly`, because a dialog with a text has the same button, and the message about a closing.
  const link = { label: 'Войти', onSelect: () => openDialog({ name: 'sign-in' }), pageOnly: true }
  if (code === 'SESSION_CLOSED') toast({ text: message, link, pageOnly: true })
  else toast({ text: 'Сессия завершена. Войдите снова', link })
}

/** Shows what the viewer has done to a post in another tab. */
export function showChange(change: PostChange): void {
  if (change.name === 'edited') putPosts([change.post])
  // A post that is not cached needs no change: a later read returns its current state.
  else if (!readCachedPost(change.postId)) return
  else if (change.name === 'liked') setLikes(change.postId, change.likes)
  else if (change.name === 'deleted') evictPost(change.postId)
}

/** Loads chunks one after another, so that a chunk that is needed now hardly has to wait. */
async function preloadFor(user: CurrentUser): Promise<void> {
  await preloadMenus()
  await replyField.preload()
  await outboxRow.preload()
  await preloadSignIn()
  await preload(async () => (await import('./open-dialog.tsx')).preloadDialogs(user))
  await preloadViewerPages()
  await preload(async () =>
    (await import('../posts/compose/orphaned-texts.ts')).checkDrafts(user.id),
  )
}
