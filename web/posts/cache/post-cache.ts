import { type QueryClient, skipToken, useQuery } from '@tanstack/react-query'
import type { Post, RepliedPost } from '../../../contract/posts.ts'

/** A post as the cache holds it: the post it replies to has an entry of its own. */
export type CachedPost = RepliedPost

type Likes = Pick<CachedPost['actions'], 'is_liked' | 'likes_count'>

/**
 * How new the cached state of a post is. Answers arrive in any order, so each read takes a version when it starts, and an
 * answer replaces only what has no higher version than its own.
 */
type Versions = {
  /** Of its text and its counter of replies; infinite for a tombstone, which no answer replaces. */
  post: number
  /** Of its likes; infinite while a like of the viewer is unconfirmed. */
  likes: number
  /** The likes that the server confirmed before any screen had read the post. */
  confirmed?: Likes
}

const POSTS = 'post'
/** Lists hold ids only, so an entry must outlive every screen that could name it. */
const LIFETIME = { gcTime: Number.POSITIVE_INFINITY, staleTime: Number.POSITIVE_INFINITY }
const NEWEST = Number.POSITIVE_INFINITY

/** Not in the entries: those are cleared when another person signs in, while answers to earlier reads may still arrive. */
const versionsByClient = new WeakMap<QueryClient, Map<string, Versions>>()
let lastVersion = 0

/** Takes the version of a read, which must be called before it is sent; putPosts() takes it with the answer. */
export function nextVersion(): number {
  lastVersion += 1
  return lastVersion
}

/**
 * Protects the shown likes of a post from the answers of all reads that start before `unlock` is called. `confirm` takes
 * what the server holds, to be shown when the post is read for the first time.
 */
export function lockLikes(client: QueryClient, id: string) {
  const versions = versionsOf(client, id)
  versions.likes = NEWEST
  return {
    confirm: (likes: Likes): void => {
      versions.confirmed = likes
    },
    unlock: (): void => {
      versions.likes = nextVersion()
    },
  }
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

/** Whether a key is that of a cached post. */
export function isPostKey([kind]: readonly unknown[]): boolean {
  return kind === POSTS
}

/**
 * Puts the posts of an answer into the cache, each as one entry, and returns their ids in the same order. The post that
 * one replies to becomes an entry too, which is null if it was deleted. `version` comes from nextVersion(); the answer to
 * a write needs none, since it is newer than every read that started before it arrived.
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

/** Records that a read did not find the post. The answer to a later read may have it all the same. */
export function setMissing(client: QueryClient, id: string, version: number): void {
  putPost(client, id, { post: null, version })
}

/** Leaves a tombstone: the post was deleted, quotes of it turn into a placeholder, and no later answer restores it. */
export function setTombstone(client: QueryClient, id: string): void {
  setMissing(client, id, NEWEST)
}

type AnsweredPost = { post: CachedPost | null; version: number }

function putPost(client: QueryClient, id: string, answered: AnsweredPost): void {
  client.setQueryDefaults([POSTS], LIFETIME)
  const versions = versionsOf(client, id)
  client.setQueryData<CachedPost | null>(postKey(id), (old) => merge(answered, old, versions))
  versions.post = Math.max(versions.post, answered.version)
  if (answered.version >= versions.likes) versions.likes = answered.version
}

/** The newer of what was answered and what is cached, decided for the post and for its likes separately. */
function merge(
  { post: answered, version }: AnsweredPost,
  old: CachedPost | null | undefined,
  versions: Versions,
): CachedPost | null {
  if (versions.post === NEWEST) return null
  const post = old === undefined || version >= versions.post ? answered : old
  const likes = version >= versions.likes ? answered?.actions : (old?.actions ?? versions.confirmed)
  if (!post || !likes) return post
  const { is_liked, likes_count } = likes
  return { ...post, actions: { ...post.actions, is_liked, likes_count } }
}

/** The post as cached now; null for one known to be deleted, undefined for one not read yet. */
export function readCachedPost(client: QueryClient, id: string): CachedPost | null | undefined {
  return client.getQueryData<CachedPost | null>(postKey(id))
}

/**
 * Changes the text or the counter of replies of a cached post on every screen that shows it; does nothing to one that is
 * missing or not read yet. Reads that started earlier no longer change it.
 */
export function changePost(
  client: QueryClient,
  id: string,
  change: (post: CachedPost) => CachedPost,
): void {
  const versions = versionsOf(client, id)
  versions.post = Math.max(versions.post, nextVersion())
  changeEntry(client, id, change)
}

/** Shows other likes of a cached post. The caller must have locked them with lockLikes(). */
export function setLikes(client: QueryClient, id: string, likes: Likes): void {
  changeEntry(client, id, (post) => ({ ...post, actions: { ...post.actions, ...likes } }))
}

/** Takes the viewer's likes off all cached posts, since somebody else reads now. No answer to an earlier read brings them back. */
export function forgetLikes(client: QueryClient): void {
  for (const [, post] of client.getQueriesData<CachedPost | null>({ queryKey: [POSTS] })) {
    if (!post || versionsOf(client, post.id).likes === NEWEST) continue
    versionsOf(client, post.id).likes = nextVersion()
    setLikes(client, post.id, { ...post.actions, is_liked: false })
  }
}

function changeEntry(
  client: QueryClient,
  id: string,
  change: (post: CachedPost) => CachedPost,
): void {
  client.setQueryData<CachedPost | null>(postKey(id), (old) => (old ? change(old) : old))
}

/** Shows a user's new name on all of their cached posts. */
export function renameOwner(client: QueryClient, { id, username }: CachedPost['owner']): void {
  for (const [, post] of client.getQueriesData<CachedPost | null>({ queryKey: [POSTS] })) {
    if (post?.owner.id !== id) continue
    changePost(client, post.id, (renamed) => ({ ...renamed, owner: { id, username } }))
  }
}

/** The cached post, re-rendered when it changes: null for a deleted one, undefined for one not read yet. */
export function usePost(id: string): CachedPost | null | undefined {
  return useQuery<CachedPost | null>({ queryKey: postKey(id), queryFn: skipToken, ...LIFETIME })
    .data
}
