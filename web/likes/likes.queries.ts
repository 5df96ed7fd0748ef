import { MutationObserver } from '@tanstack/react-query'
import { useCallback, useSyncExternalStore } from 'react'
import { CallError, isShortLimit, type ShortLimit } from '../http/call-error.ts'
import { errorMessage, waitMessage } from '../http/error-message.ts'
import { queryClient } from '../http/query-client.ts'
import { evictPost, whenListsAreRead } from '../posts/cache/list-cache.ts'
import { type CachedPost, type Likes, readCachedPost, setLikes } from '../posts/cache/post-cache.ts'
import { announcePostChange } from '../posts/cache/post-channel.ts'
import { type Intent, keepIntent } from '../session/intents.ts'
import { viewerId } from '../session/viewer.ts'
import { write } from '../session/write.ts'
import { toast } from '../ui/overlay/toaster.tsx'

type Tap = Extract<Intent, { name: 'like' }>

/** Returns the confirmed likes, changed by the viewer's last tap while that is pending. */
export function useShownLikes(post: CachedPost): Likes {
  const { id } = post
  // useMutationState() would show a tap a timer later, and make the chunk larger.
  const lastTapNow = () => lastTap(id)
  const subscribe = useCallback((listener: () => void) => onTap(id, listener), [id])
  const tap = useSyncExternalStore(subscribe, lastTapNow, lastTapNow)
  // Reads the cache itself: a query would update a timer later than the tap ends.
  return withTap((readCachedPost(id) ?? post).actions, tap)
}

/** Calls `listener` only about one post, because a tap would keep a thousand listeners busy. */
function onTap(postId: string, listener: () => void): () => void {
  const scope = scopeOf(postId)
  return queryClient.getMutationCache().subscribe(({ mutation }) => {
    if (mutation?.options.scope?.id === scope) listener()
  })
}

/** Returns the current likes like useShownLikes(), outside a render. */
export function shownLikes(postId: string): Likes | undefined {
  const post = readCachedPost(postId)
  return post ? withTap(post.actions, lastTap(postId)) : undefined
}

/**
 * Sends the taps on one post one after the other. Resolves to false after a refusal, which a toast
 * shows. If the session has ended, the tap is stored, and repeated after signing in.
 */
export async function sendTap(intent: Tap): Promise<boolean> {
  const tap = { by: viewerId() ?? '', ...intent }
  const observer = new MutationObserver<void, Error, Tap>(queryClient, {
    mutationKey: tapsKey(tap.postId),
    scope: { id: scopeOf(tap.postId) },
    gcTime: 0,
    mutationFn: () => confirmTap(tap),
  })
  try {
    await observer.mutate(tap)
    return true
  } catch (error) {
    const status = error instanceof CallError && error.status
    if (status === 401) keepIntent(tap)
    else toast({ text: errorMessage(error) })
    if (status === 404) evictPost(tap.postId)
    return false
  } finally {
    observer.reset()
  }
}

/** Sends a tap unless a later one has replaced it, or it would change nothing. */
async function confirmTap(tap: Tap): Promise<void> {
  const { postId, liked: is_liked = true, by } = tap
  const isWanted = () =>
    lastTap(postId) === tap && readCachedPost(postId)?.actions.is_liked !== is_liked
  if (!isWanted()) return
  const name = is_liked ? 'POST /posts/:id/likes' : 'DELETE /posts/:id/likes'
  const onLimit = (error: ShortLimit) => toast({ text: waitMessage(error) })
  try {
    const answer = await write(name, { params: { id: postId } }, { by, isWanted, onLimit })
    const likes = { is_liked, ...answer }
    announcePostChange({ name: 'liked', postId, likes })
    // After signing in, a post may be liked before it is read, and reads in flight lack the like.
    if (!readCachedPost(postId)) await whenListsAreRead()
    setLikes(postId, likes)
  } catch (error) {
    // If the tap was replaced during the wait for a limit, that is no error.
    if (!isShortLimit(error) || isWanted()) throw error
  }
}

function withTap(
  { is_liked, likes_count }: Likes,
  { liked = true }: Pick<Tap, 'liked'> = { liked: is_liked },
): Likes {
  const step = Number(liked) - Number(is_liked)
  return { is_liked: liked, likes_count: Math.max(0, likes_count + step) }
}

/** Returns the viewer's last pending tap. Taps of a former viewer may still wait for a limit. */
function lastTap(postId: string): Tap | undefined {
  const pending = { mutationKey: tapsKey(postId), status: 'pending' } as const
  const taps = queryClient.getMutationCache().findAll(pending)
  const by = viewerId() ?? ''
  return taps
    .map(({ state }) => state.variables as Tap)
    .filter((tap) => tap.by === by)
    .at(-1)
}

function tapsKey(postId: string) {
  return ['like', postId] as const
}

/** The taps of a scope are sent one after the other. */
function scopeOf(postId: string): string {
  return tapsKey(postId).join(' ')
}
