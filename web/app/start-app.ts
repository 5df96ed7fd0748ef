import type { QueryClient } from '@tanstack/react-query'
import { NOTHING_RECEIVED } from '../../contract/constants.ts'
import { receivedQuery } from '../answers/answers.queries.ts'
import { preloadMenus } from '../feed/post-controls.tsx'
import { onLeaveLoading, openDialog } from '../history/history.ts'
import type { CallError } from '../http/call-error.ts'
import { preload } from '../platform/lazy-chunk.ts'
import { whenUsed } from '../platform/timing.ts'
import { hideMuted } from '../posts/cache/hidden.ts'
import { evictPost, forgetViewer } from '../posts/cache/list-cache.ts'
import { putPosts, readCachedPost, setLikes } from '../posts/cache/post-cache.ts'
import { onPostChange, type PostChange } from '../posts/cache/post-channel.ts'
import { resumeIntents } from '../session/intents.ts'
import { onSessionLost } from '../session/token.ts'
import { knownViewer, onAccountRead, onOtherViewer } from '../session/viewer.ts'
import { toast } from '../ui/toaster.tsx'
import { closeOpened, preloadSignIn } from './dialogs.tsx'
import { guardPages } from './guard-pages.ts'
import { performIntent } from './perform-intent.ts'

/** Connects the app with what happens outside of React. Called once, before the first render. */
export function startApp(client: QueryClient): void {
  onLeaveLoading(closeOpened)
  onOtherViewer(() => forgetViewer(client))
  onSessionLost(offerSignIn)
  onAccountRead((account) => {
    hideMuted(account)
    client.setQueryData(receivedQuery.queryKey, account.received ?? NOTHING_RECEIVED)
  })
  onPostChange((change) => showChange(client, change))
  guardPages()
  void resumeIntents(performIntent)
  void greetViewer(client)
}

/** The session expired or was closed. */
function offerSignIn({ code, message }: CallError): void {
  // A dialog whose text could not be sent has the button too.
  const link = { label: 'Войти', onSelect: () => openDialog({ name: 'sign-in' }), pageOnly: true }
  toast({ text: code === 'SESSION_CLOSED' ? message : 'Сессия завершена. Войдите снова', link })
}

/**
 * Preloads what the next taps may need, so that it opens at once, offline too. For visitors this
 * waits for the first sign of use: a visit that ends at a glance does not pay for it.
 */
async function greetViewer(client: QueryClient): Promise<void> {
  const viewer = await knownViewer()
  if (viewer.state === 'authorized') {
    const { user } = viewer
    await preload(async () => (await import('./signed-in.ts')).greetUser(client, user))
  } else {
    whenUsed(() => {
      void preloadMenus()
      void preloadSignIn()
    })
  }
}

/** Shows what the viewer has done to a post in another tab. */
function showChange(client: QueryClient, change: PostChange): void {
  const id = change.name === 'edited' ? change.post.id : change.postId
  // A post that this page has not read yet will be read as it is by then.
  if (!readCachedPost(client, id)) return
  if (change.name === 'liked') setLikes(client, id, change.likes)
  else if (change.name === 'edited') putPosts(client, [change.post])
  else if (change.name === 'deleted') evictPost(client, id)
}
