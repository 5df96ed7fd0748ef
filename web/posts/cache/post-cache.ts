import { skipToken, useQuery } from '@tanstack/react-query'
import type { Post, RepliedPost } from '../../../contract/posts.ts'
import { queryClient } from '../../http/query-client.ts'

/** The post that a cached reply replies to has an entry of its own, and so has a clarification. */
export type CachedPost = RepliedPost

export type Likes = Pick<CachedPost['actions'], 'is_liked' | 'likes_count'>

const POSTS = 'post'
// Lists hold ids only, so an entry must outlive every screen that could name it.
queryClient.setQueryDefaults([POSTS], {
  gcTime: Number.POSITIVE_INFINITY,
  staleTime: Number.POSITIVE_INFINITY,
  meta: { outlivesViewer: true },
})

let lastVersion = 0

/**
 * Returns the version of a read. Call it before the read, and pass it to putPosts(). Answers arrive
 * in any order, and each replaces only a state of the same or a lower version.
 */
export function nextVersion(): number {
  lastVersion += 1
  return lastVersion
}

function postKey(id: string) {
  return [POSTS, id] as const
}

/**
 * Caches posts and the posts that they reply to. Returns the ids of the posts. By default they are
 * newer than every read that started before, as the answer to a write is.
 */
export function putPosts(posts: readonly Post[], version: number = nextVersion()): string[] {
  for (const post of posts) {
    const { replied_post_id: repliedId, replied_post: replied } = post.actions
    for (const { clarification } of [post, replied ?? {}] as Partial<CachedPost>[]) {
      if (clarification) putPost(clarification.id, clarification, version)
    }
    if (repliedId) putPost(repliedId, replied, version)
    putPost(post.id, { ...post, actions: { ...post.actions, replied_post: null } }, version)
  }
  return posts.map((post) => post.id)
}

/** Caches a post, or null for a missing one. The query keeps the version as the time of its data. */
export function putPost(
  id: string,
  post: CachedPost | null,
  version: number = nextVersion(),
): void {
  const { dataUpdatedAt = 0 } = queryClient.getQueryState(postKey(id)) ?? {}
  if (version >= dataUpdatedAt) queryClient.setQueryData(postKey(id), post, { updatedAt: version })
}

/** Marks a post as deleted, which no later answer undoes. Quotes of it turn into a placeholder. */
export function setTombstone(id: string): void {
  putPost(id, null, Number.POSITIVE_INFINITY)
}

/** Returns null if the post is known to be missing, and undefined if it was not read yet. */
export function readCachedPost(id: string): CachedPost | null | undefined {
  return queryClient.getQueryData<CachedPost | null>(postKey(id))
}

/** Changes a post. Reads that started earlier no longer change it. */
export function changePost(id: string, change: (post: CachedPost) => CachedPost): void {
  const post = readCachedPost(id)
  if (post) putPost(id, change(post))
}

/** Stores likes that the server has confirmed. */
export function setLikes(id: string, likes: Likes): void {
  changePost(id, (post) => ({ ...post, actions: { ...post.actions, ...likes } }))
}

/** Removes the former viewer's likes, which no answer to an earlier read restores. */
export function forgetLikes(): void {
  for (const post of allCached()) {
    putPost(post.id, { ...post, actions: { ...post.actions, is_liked: false } })
  }
}

export function allCached(): CachedPost[] {
  const entries = queryClient.getQueriesData<CachedPost | null>({ queryKey: [POSTS] })
  return entries.flatMap(([, post]) => post ?? [])
}

export function renameOwner({ id, username }: CachedPost['owner']): void {
  for (const post of allCached()) {
    if (post.owner.id === id) putPost(post.id, { ...post, owner: { id, username } })
  }
}

export function usePost(id: string): CachedPost | null | undefined {
  return useQuery<CachedPost | null>({ queryKey: postKey(id), queryFn: skipToken }).data
}
