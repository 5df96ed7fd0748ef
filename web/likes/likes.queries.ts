import {
  type MutationFilters,
  MutationObserver,
  type QueryClient,
  useQueryClient,
} from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { CallError, isShortLimit } from '../http/call-error.ts'
import { errorMessage, waitMessage } from '../http/error-message.ts'
import { write } from '../http/write.ts'
import { evictPost, whenListsAreRead } from '../posts/cache/list-cache.ts'
import { type CachedPost, type Likes, readCachedPost, setLikes } from '../posts/cache/post-cache.ts'
import { announcePostChange } from '../posts/cache/post-channel.ts'
import { type Intent, keepIntent } from '../session/intents.ts'
import { viewerId } from '../session/viewer.ts'
import { toast } from '../ui/toaster.tsx'

type Tap = Extract<Intent, { name: 'like' }>

/** Returns the confirmed likes, with the viewer's last tap laid over them while it is pending. */
export function useShownLikes(post: CachedPost): Likes {
  // useMutationState() would show a tap a timer later, and weigh more.
  const client = useQueryClient()
  const lastTapNow = () => lastTap(client, post.id)
  const { subscribe } = client.getMutationCache()
  const tap = useSyncExternalStore(subscribe, lastTapNow, lastTapNow)
  // A query tells of what was confirmed a timer later than the tap ends.
  return withTap((readCachedPost(client, post.id) ?? post).actions, tap)
}

/** As useShownLikes(), but what was rendered may be a tap behind. */
export function shownLikes(client: QueryClient, postId: string): Likes | undefined {
  const post = readCachedPost(client, postId)
  return post ? withTap(post.actions, lastTap(client, postId)) : undefined
}

/**
 * Taps on one post are sent one after the other. Resolves with false after a refusal, which a toast
 * tells. If the session has ended, of which another toast tells, the like is set after signing in.
 */
export async function sendTap(client: QueryClient, intent: Tap): Promise<boolean> {
  const tap = { by: viewerId() ?? '', ...intent }
  const observer = new MutationObserver<void, Error, Tap>(client, {
    mutationKey: tapsKey(tap.postId),
    scope: { id: `like ${tap.postId}` },
    gcTime: 0,
    mutationFn: () => confirmTap(client, tap),
  })
  try {
    await observer.mutate(tap)
    return true
  } catch (error) {
    const status = error instanceof CallError && error.status
    if (status === 401) keepIntent(tap)
    else tell(tap, errorMessage(error))
    if (status === 404) evictPost(client, tap.postId)
    return false
  } finally {
    observer.reset()
  }
}

/** A tap that a later one has replaced, or that changes nothing any more, is not sent. */
async function confirmTap(client: QueryClient, tap: Tap): Promise<void> {
  const { postId, liked = true } = tap
  const isWanted = () =>
    lastTap(client, postId) === tap && readCachedPost(client, postId)?.actions.is_liked !== liked
  if (!isWanted()) return
  try {
    await setLike(client, tap, isWanted)
  } catch (error) {
    // A tap that was replaced during the wait for a limit is over.
    if (!isShortLimit(error) || isWanted()) throw error
  }
}

function tell({ postId }: Tap, text: string): void {
  toast({ text }, { about: [`like ${postId}`] })
}

async function setLike(client: QueryClient, tap: Tap, isWanted: () => boolean): Promise<void> {
  const { postId, liked: is_liked = true, by } = tap
  const name = is_liked ? 'POST /posts/:id/likes' : 'DELETE /posts/:id/likes'
  const answer = await write(
    name,
    { params: { id: postId } },
    { by, isWanted, onLimit: (error) => tell(tap, waitMessage(error)) },
  )
  const likes = { is_liked, ...answer }
  announcePostChange({ name: 'liked', postId, likes })
  // After signing in, a post may be liked before it is read, and reads under way lack the like.
  if (!readCachedPost(client, postId)) await whenListsAreRead(client)
  setLikes(client, postId, likes)
}

function withTap(
  { is_liked, likes_count }: Likes,
  { liked = true }: Pick<Tap, 'liked'> = { liked: is_liked },
): Likes {
  const step = Number(liked) - Number(is_liked)
  return { is_liked: liked, likes_count: Math.max(0, likes_count + step) }
}

/** The viewer's last tap: somebody else may have signed in while another's waits for a limit. */
function lastTap(client: QueryClient, postId: string): Tap | undefined {
  const taps = client.getMutationCache().findAll(pendingTaps(postId)).map(tapOf)
  return taps.filter(({ by }) => by === (viewerId() ?? '')).at(-1)
}

function pendingTaps(postId: string): MutationFilters {
  return { mutationKey: tapsKey(postId), status: 'pending' }
}

function tapsKey(postId: string) {
  return ['like', postId] as const
}

function tapOf({ state }: { state: { variables: unknown } }): Tap {
  return state.variables as Tap
}
