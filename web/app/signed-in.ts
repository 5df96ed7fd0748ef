import type { QueryClient } from '@tanstack/react-query'
import type { CurrentUser } from '../../contract/account.ts'
import { PATHS, postPath } from '../../contract/pages.ts'
import { isInSight } from '../feed/articles.ts'
import { preloadMenus } from '../feed/post-controls.tsx'
import { openDialog, openedDialog } from '../history/history.ts'
import type { CallError } from '../http/call-error.ts'
import { pageFlags } from '../platform/flags.ts'
import { preload } from '../platform/lazy-chunk.ts'
import { localStore } from '../platform/storage.ts'
import { whenIdle } from '../platform/timing.ts'
import { evictPost, whenListsAreRead } from '../posts/cache/list-cache.ts'
import { putPosts, readCachedPost, setLikes } from '../posts/cache/post-cache.ts'
import type { PostChange } from '../posts/cache/post-channel.ts'
import { SIGN_IN_KEY } from '../session/stored-keys.ts'
import { takeArrival } from '../sign-in/arrival.ts'
import { toast } from '../ui/toaster.tsx'
import { preloadDialogs } from './dialogs.tsx'
import { preloadViewerPages } from './routes.tsx'
import { outboxRow } from './shell/connection-banner.tsx'

const COMPOSERS = new Set<string | undefined>(['new-post', 'reply'])
const NEWS_MS = 3000
const PRELOAD_MS = 2000

/** Greets a user whose page has loaded, and fetches what their next taps may need. */
export async function greetUser(client: QueryClient, user: CurrentUser): Promise<void> {
  // Also that of another account.
  localStore.remove(SIGN_IN_KEY)
  delete pageFlags().codeSent
  const { username, hasNewOutcomes = false, lastRemoval } = user
  const arrival = takeArrival()
  if (arrival === 'returned') toast({ text: 'С возвращением' })
  // In the composer a line says the same.
  else if (arrival && !COMPOSERS.has(openedDialog.get()?.name)) {
    toast({
      text: `Теперь вы ${username}`,
      link: { label: 'Выбрать имя', to: PATHS.username },
    })
  }
  if (hasNewOutcomes || lastRemoval) {
    const tell = async () =>
      (await import('../moderation/outcomes/new-outcomes.ts')).tellNews(hasNewOutcomes, lastRemoval)
    whenIdle(() => void preload(tell), NEWS_MS)
  }
  await whenListsAreRead(client)
  whenIdle(() => void preloadFor(user), PRELOAD_MS)
}

/** Shows a toast if the post that was liked is out of sight: it may be far above or below. */
export async function showLiked(client: QueryClient, postId: string): Promise<void> {
  // A list that is still being read, or rendered, has not returned to its anchor.
  await whenListsAreRead(client)
  await new Promise<void>((resolve) => whenIdle(resolve, PRELOAD_MS))
  if (isInSight(postId)) return
  const link = { label: 'Смотреть', to: postPath(postId) }
  toast({ text: 'Добавлено в «Понравившиеся»', link })
}

/** The session expired or was closed. A notice of the page shows the reason of a moderator. */
export function offerSignIn({ code, message }: CallError): void {
  if (message.includes('Причина: ')) return
  // A dialog whose text could not be sent has the button too.
  const link = { label: 'Войти', onSelect: () => openDialog({ name: 'sign-in' }), pageOnly: true }
  toast({ text: code === 'SESSION_CLOSED' ? message : 'Сессия завершена. Войдите снова', link })
}

/** Shows what the viewer has done to a post in another tab. */
export function showChange(client: QueryClient, change: PostChange): void {
  const id = change.name === 'edited' ? change.post.id : change.postId
  // A post that this page has not read yet will be read as it is by then.
  if (!readCachedPost(client, id)) return
  if (change.name === 'liked') setLikes(client, id, change.likes)
  else if (change.name === 'edited') putPosts(client, [change.post])
  else if (change.name === 'deleted') evictPost(client, id)
}

/** Reads the address of a page with which a phone shares a text. */
export async function takeShared(): Promise<void> {
  await (await import('./shared-text.ts')).takeShared()
}

export async function writeShared(text: string | undefined): Promise<void> {
  ;(await import('./shared-text.ts')).writeShared(text)
}

/** Chunks load one after another, so that what the person opens meanwhile hardly has to wait. */
async function preloadFor(user: CurrentUser): Promise<void> {
  await preloadMenus()
  await outboxRow.preload()
  await preloadDialogs(user)
  await preloadViewerPages()
}
