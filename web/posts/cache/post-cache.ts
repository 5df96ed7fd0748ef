import { type QueryClient, skipToken, useQuery } from '@tanstack/react-query'
import type { Post, RepliedPost } from '../../../contract/posts.ts'

/** The post that a cached reply replies to has an entry of its own. */
export type CachedPost = RepliedPost

type Change = (post: CachedPost) => CachedPost
export type Likes = Pick<CachedPost['actions'], 'is_liked' | 'likes_count'>

/**
 * Answers arrive in any order, so each read takes a version when it starts, and an answer replaces
 * only what has no higher version than its own.
 */
type Versions = {
  /** Infinite for a tombstone, which no answer replaces. */
  post: number
  likes: number
}

const POSTS = 'post'
/** Lists hold ids only, so an entry must outlive every screen that could name it. */
const LIFETIME = { gcTime: Number.POSITIVE_INFINITY, staleTime: Number.POSITIVE_INFINITY }
const NEWEST = Number.POSITIVE_INFINITY

/** Outside the entries, which are cleared for another viewer while earlier reads are in flight. */
const versionsByClient = new WeakMap<QueryClient, Map<string, Versions>>()
let lastVersion = 0

/** Call it before a read is sent, and pass the version to putPosts() with the answer. */
export function nextVersion(): number {
  lastVersion += 1
  return lastVersion
}

function versionsOf(client: QueryClient, id: string): Versions {
  const all = versionsByClient.get(client) ?? new Map<string, Versions>()
  versionsByClient.set(client, all)
  const versions = all.get(id) ?? { post: 0, likes: 0 }
  all.set(id, versions)
  return versions
}

function postKey(id: string) {
  return [POSTS, id] as const
}

export function isPostKey([kind]: readonly unknown[]): boolean {
  return kind === POSTS
}

/**
 * A replied post becomes an entry too. The answer to a write is newer than every read that started
 * before it arrived.
 */
export function putPosts(
  client: QueryClient,
  posts: readonly Post[],
  version: number = nextVersion(),
): string[] {
  for (const post of posts) {
    const { replied_post_id: repliedId, replied_post: replied } = post.actions
    if (repliedId) putPost(client, repliedId, { post: replied, version })
    const alone = { ...post, actions: { ...post.actions, replied_post: null } }
    putPost(client, post.id, { post: alone, version })
  }
  return posts.map((post) => post.id)
}

export function setMissing(client: QueryClient, id: string, version: number): void {
  putPost(client, id, { post: null, version })
}

/** No later answer restores a deleted post; quotes of it turn into a placeholder. */
export function setTombstone(client: QueryClient, id: string): void {
  setMissing(client, id, NEWEST)
}

type AnsweredPost = { post: CachedPost | null; version: number }

function putPost(client: QueryClient, id: string, answered: AnsweredPost): void {
  client.setQueryDefaults([POSTS], LIFETIME)
  const versions = versionsOf(client, id)
  client.setQueryData<CachedPost | null>(postKey(id), (old) => merge(answered, old, versions))
  versions.post = Math.max(versions.post, answered.version)
  versions.likes = Math.max(versions.likes, answered.version)
}

/** The newer state wins, separately for the post and for its likes. */
function merge(
  { post: answered, version }: AnsweredPost,
  old: CachedPost | null | undefined,
  versions: Versions,
): CachedPost | null {
  if (versions.post === NEWEST) return null
  const post = old === undefined || version >= versions.post ? answered : old
  const newer = version >= versions.likes ? answered : old
  if (!post || !newer) return post
  const { is_liked, likes_count } = newer.actions
  return { ...post, actions: { ...post.actions, is_liked, likes_count } }
}

/** Returns null for a post known to be deleted, undefined for one not read yet. */
export function readCachedPost(client: QueryClient, id: string): CachedPost | null | undefined {
  return client.getQueryData<CachedPost | null>(postKey(id))
}

/** Changes the text or the counter of replies. Reads that started earlier no longer change it. */
export function changePost(client: QueryClient, id: string, change: Change): void {
  const versions = versionsOf(client, id)
  versions.post = Math.max(versions.post, nextVersion())
  changeEntry(client, id, change)
}

/** Takes likes that the server has confirmed. Reads that started earlier no longer change them. */
export function setLikes(client: QueryClient, id: string, likes: Likes): void {
  versionsOf(client, id).likes = nextVersion()
  changeEntry(client, id, (post) => ({ ...post, actions: { ...post.actions, ...likes } }))
}

/** Removes the former viewer's likes, which no answer to an earlier read restores. */
export function forgetLikes(client: QueryClient): void {
  for (const { id, actions } of allCached(client)) {
    setLikes(client, id, { ...actions, is_liked: false })
  }
}

export function allCached(client: QueryClient): CachedPost[] {
  const entries = client.getQueriesData<CachedPost | null>({ queryKey: [POSTS] })
  return entries.flatMap(([, post]) => post ?? [])
}

function changeEntry(client: QueryClient, id: string, change: Change): void {
  client.setQueryData<CachedPost | null>(postKey(id), (old) => (old ? change(old) : old))
}

export function renameOwner(client: QueryClient, { id, username }: CachedPost['owner']): void {
  for (const post of allCached(client)) {
    if (post.owner.id !== id) continue
    changePost(client, post.id, (renamed) => ({ ...renamed, owner: { id, username } }))
  }
}

export function usePost(id: string): CachedPost | null | undefined {
  return useQuery<CachedPost | null>({ queryKey: postKey(id), queryFn: skipToken, ...LIFETIME })
    .data
}
