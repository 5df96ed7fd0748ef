import { type QueryClient, skipToken, useQuery } from '@tanstack/react-query'
import type { Post, RepliedPost } from '../../../contract/posts.ts'

/** The post that a cached reply replies to has an entry of its own. */
export type CachedPost = RepliedPost

export type Likes = Pick<CachedPost['actions'], 'is_liked' | 'likes_count'>

/**
 * Answers arrive in any order. So each read takes a version when it starts, and its answer replaces
 * only a state of the same or a lower version.
 */
type Entry = {
  /** Null for a post that does not exist. */
  post: CachedPost | null
  /** Infinite for a tombstone, which no answer replaces. */
  version: number
  likesVersion: number
}

const POSTS = 'post'
const UNREAD: Entry = { post: null, version: 0, likesVersion: 0 }
/** Lists hold ids only, so an entry must outlive every screen that could name it. */
const LIFETIME = { gcTime: Number.POSITIVE_INFINITY, staleTime: Number.POSITIVE_INFINITY }

let lastVersion = 0

/** Returns the version of a read. Call it before the read, and pass it to putPosts(). */
export function nextVersion(): number {
  lastVersion += 1
  return lastVersion
}

function postKey(id: string) {
  return [POSTS, id] as const
}

export function isPostKey([kind]: readonly unknown[]): boolean {
  return kind === POSTS
}

/**
 * Caches posts and the posts that they reply to. Returns the ids of the posts. By default they are
 * newer than every read that started before, as the answer to a write is.
 */
export function putPosts(
  client: QueryClient,
  posts: readonly Post[],
  version: number = nextVersion(),
): string[] {
  for (const post of posts) {
    const { replied_post_id: repliedId, replied_post: replied } = post.actions
    if (repliedId) putPost(client, repliedId, replied, version)
    putPost(client, post.id, { ...post, actions: { ...post.actions, replied_post: null } }, version)
  }
  return posts.map((post) => post.id)
}

export function setMissing(client: QueryClient, id: string, version: number): void {
  putPost(client, id, null, version)
}

/** Marks a post as deleted, which no later answer undoes. Quotes of it turn into a placeholder. */
export function setTombstone(client: QueryClient, id: string): void {
  setMissing(client, id, Number.POSITIVE_INFINITY)
}

/** Keeps the newer state, separately for the post and for its likes. */
function putPost(
  client: QueryClient,
  id: string,
  answered: CachedPost | null,
  version: number,
): void {
  client.setQueryDefaults([POSTS], LIFETIME)
  client.setQueryData<Entry>(postKey(id), (old = UNREAD) => {
    const post = version >= old.version ? answered : old.post
    const likes = (version >= old.likesVersion ? answered : old.post)?.actions
    return {
      post: post && likes ? withLikes(post, likes) : post,
      version: Math.max(version, old.version),
      likesVersion: Math.max(version, old.likesVersion),
    }
  })
}

/** Returns null if the post is known to be missing, and undefined if it was not read yet. */
export function readCachedPost(client: QueryClient, id: string): CachedPost | null | undefined {
  return client.getQueryData<Entry>(postKey(id))?.post
}

/** Changes the text or the counter of replies. Reads that started earlier no longer change it. */
export function changePost(
  client: QueryClient,
  id: string,
  change: (post: CachedPost) => CachedPost,
): void {
  client.setQueryData<Entry>(postKey(id), (old) =>
    old?.post ? { ...old, post: change(old.post), version: nextVersion() } : old,
  )
}

/** Stores likes that the server has confirmed. Reads that started earlier do not change them. */
export function setLikes(client: QueryClient, id: string, likes: Likes): void {
  client.setQueryData<Entry>(postKey(id), (old) =>
    old?.post ? { ...old, post: withLikes(old.post, likes), likesVersion: nextVersion() } : old,
  )
}

function withLikes(post: CachedPost, { is_liked, likes_count }: Likes): CachedPost {
  return { ...post, actions: { ...post.actions, is_liked, likes_count } }
}

/** Removes the former viewer's likes, which no answer to an earlier read restores. */
export function forgetLikes(client: QueryClient): void {
  for (const { id, actions } of allCached(client)) {
    setLikes(client, id, { ...actions, is_liked: false })
  }
}

export function allCached(client: QueryClient): CachedPost[] {
  const entries = client.getQueriesData<Entry>({ queryKey: [POSTS] })
  return entries.flatMap(([, entry]) => entry?.post ?? [])
}

export function renameOwner(client: QueryClient, { id, username }: CachedPost['owner']): void {
  for (const post of allCached(client)) {
    if (post.owner.id !== id) continue
    changePost(client, post.id, (renamed) => ({ ...renamed, owner: { id, username } }))
  }
}

export function usePost(id: string): CachedPost | null | undefined {
  const select = ({ post }: Entry) => post
  return useQuery({ queryKey: postKey(id), queryFn: skipToken, select, ...LIFETIME }).data
}
