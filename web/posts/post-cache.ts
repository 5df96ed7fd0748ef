import { type QueryClient, skipToken, useQuery } from '@tanstack/react-query'
import type { Post, RepliedPost } from '../../contract/posts.ts'

/** A post as the cache keeps it: the post it answers has an entry of its own. */
export type CachedPost = RepliedPost

type Likes = Pick<CachedPost['actions'], 'is_liked' | 'likes_count'>
/** Reads begun before `until` know less of a post's likes than this page does. */
type Hold = { until: number; confirmed?: Likes }

const POSTS = 'post'
/** Lists hold ids only, so an entry must outlive every screen that could name it. */
const KEPT = { gcTime: Number.POSITIVE_INFINITY, staleTime: Number.POSITIVE_INFINITY }

const holds = new Map<string, Hold>()
let reads = 0

/** Marks the beginning of a read; putPosts() wants it with the answer. */
export function beginRead(): number {
  reads += 1
  return reads
}

/**
 * Keeps what the page shows of a post's likes, whatever reads say that began before `release` is called. `confirm` tells
 * what the server holds: it is shown where no screen had read the post yet.
 */
export function holdLikes(id: string): { confirm: (likes: Likes) => void; release: () => void } {
  const hold: Hold = { until: Number.POSITIVE_INFINITY }
  holds.set(id, hold)
  return {
    confirm: (likes) => {
      hold.confirmed = likes
    },
    release: () => {
      hold.until = beginRead()
    },
  }
}

function postKey(id: string) {
  return [POSTS, id] as const
}

/**
 * Puts posts from an answer into the cache, each in its one entry, and gives their ids in the same order.
 * The post answered becomes an entry too; one that was deleted becomes null. `begun` is the mark of the read, where it
 * was one.
 */
export function putPosts(
  client: QueryClient,
  posts: readonly Post[],
  begun: number = beginRead(),
): string[] {
  client.setQueryDefaults([POSTS], KEPT)
  for (const post of posts) {
    const { replied_post_id: answeredId, replied_post: answered } = post.actions
    if (answered) putPost(client, answered, begun)
    else if (answeredId) client.setQueryData(postKey(answeredId), null)
    putPost(client, { ...post, actions: { ...post.actions, replied_post: null } }, begun)
  }
  return posts.map((post) => post.id)
}

/** A deleted post never comes back: an answer that was under way meanwhile must not revive it. */
function putPost(client: QueryClient, post: CachedPost, begun: number): void {
  client.setQueryData<CachedPost | null>(postKey(post.id), (old) =>
    old === null ? null : withHeldLikes(post, old, begun),
  )
}

function withHeldLikes(post: CachedPost, old: CachedPost | undefined, begun: number): CachedPost {
  const hold = holds.get(post.id)
  const likes = old?.actions ?? hold?.confirmed
  if (!hold || !likes || begun > hold.until) return post
  const { is_liked, likes_count } = likes
  return { ...post, actions: { ...post.actions, is_liked, likes_count } }
}

/** The post as cached now; null for one known to be deleted, undefined for one not read yet. */
export function readCachedPost(client: QueryClient, id: string): CachedPost | null | undefined {
  return client.getQueryData<CachedPost | null>(postKey(id))
}

/** Changes a cached post on every screen that shows it; does nothing to one that is deleted or not read yet. */
export function changePost(
  client: QueryClient,
  id: string,
  change: (post: CachedPost) => CachedPost,
): void {
  client.setQueryData<CachedPost | null>(postKey(id), (old) => (old ? change(old) : old))
}

/** Puts a user's name on all of their cached posts. */
export function renameOwner(client: QueryClient, { id, username }: CachedPost['owner']): void {
  client.setQueriesData<CachedPost | null>({ queryKey: [POSTS] }, (post) =>
    post?.owner.id === id ? { ...post, owner: { id, username } } : post,
  )
}

/** Marks a post as deleted: quotes of it turn into a placeholder, and no later answer revives it. */
export function buryPost(client: QueryClient, id: string): void {
  client.setQueryDefaults([POSTS], KEPT)
  client.setQueryData<CachedPost | null>(postKey(id), null)
}

/** The cached post, kept up to date: null for a deleted one, undefined for one not read yet. */
export function usePost(id: string): CachedPost | null | undefined {
  return useQuery<CachedPost | null>({ queryKey: postKey(id), queryFn: skipToken, ...KEPT }).data
}
