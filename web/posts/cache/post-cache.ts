import { type QueryClient, skipToken, useQuery } from '@tanstack/react-query'
import type { Post, RepliedPost } from '../../../contract/posts.ts'

/** A post as the cache keeps it: the post it answers has an entry of its own. */
export type CachedPost = RepliedPost

type Likes = Pick<CachedPost['actions'], 'is_liked' | 'likes_count'>

/**
 * What this page knows of a post. Answers come in any order, so each carries the mark of the moment it was asked for:
 * one that was asked for before a mark here knows less, and changes nothing on that side of the post.
 */
type Known = {
  /** The mark of its words and replies; infinite for a tombstone, which no answer changes. */
  post: number
  /** The mark of its likes; infinite while a like of the viewer is under way. */
  likes: number
  /** The likes that the server confirmed where no screen had read the post yet. */
  confirmed?: Likes
}

const POSTS = 'post'
/** Lists hold ids only, so an entry must outlive every screen that could name it. */
const KEPT = { gcTime: Number.POSITIVE_INFINITY, staleTime: Number.POSITIVE_INFINITY }
const FOR_EVER = Number.POSITIVE_INFINITY

/** Beside the entries, which go when another person signs in, while answers asked for before may still come. */
const knownBy = new WeakMap<QueryClient, Map<string, Known>>()
let marks = 0

/** Marks the beginning of a read; putPosts() wants it with the answer. */
export function beginRead(): number {
  marks += 1
  return marks
}

/**
 * Keeps what the page shows of a post's likes, whatever reads say that began before `release` is called. `confirm` tells
 * what the server holds: it is shown where no screen had read the post yet.
 */
export function holdLikes(client: QueryClient, id: string) {
  const known = knownOf(client, id)
  known.likes = FOR_EVER
  return {
    confirm: (likes: Likes): void => {
      known.confirmed = likes
    },
    release: (): void => {
      known.likes = beginRead()
    },
  }
}

function knownOf(client: QueryClient, id: string): Known {
  const all = knownBy.get(client) ?? new Map<string, Known>()
  knownBy.set(client, all)
  const known = all.get(id) ?? { post: 0, likes: 0 }
  all.set(id, known)
  return known
}

function postKey(id: string) {
  return [POSTS, id] as const
}

/**
 * Puts posts from an answer into the cache, each in its one entry, and returns their ids in the same order.
 * The post answered becomes an entry too; one that was deleted becomes null. `begun` is the mark of the read; the answer
 * to a write needs none, since it knows more than every read that began before it came.
 */
export function putPosts(
  client: QueryClient,
  posts: readonly Post[],
  begun: number = beginRead(),
): string[] {
  for (const post of posts) {
    const { replied_post_id: answeredId, replied_post: answered } = post.actions
    if (answeredId) putPost(client, answeredId, { post: answered, begun })
    const alone = { ...post, actions: { ...post.actions, replied_post: null } }
    putPost(client, post.id, { post: alone, begun })
  }
  return posts.map((post) => post.id)
}

/** Marks a post as missing, as a read that began at `begun` was told: a later answer may know of it all the same. */
export function putMissing(client: QueryClient, id: string, begun: number): void {
  putPost(client, id, { post: null, begun })
}

type AnsweredPost = { post: CachedPost | null; begun: number }

function putPost(client: QueryClient, id: string, answered: AnsweredPost): void {
  client.setQueryDefaults([POSTS], KEPT)
  const known = knownOf(client, id)
  client.setQueryData<CachedPost | null>(postKey(id), (old) => merge(answered, old, known))
  known.post = Math.max(known.post, answered.begun)
  if (answered.begun >= known.likes) known.likes = answered.begun
}

/** Of what was answered and what is cached, the newer one: of the post, and of its likes for themselves. */
function merge(
  { post: answered, begun }: AnsweredPost,
  old: CachedPost | null | undefined,
  known: Known,
): CachedPost | null {
  if (known.post === FOR_EVER) return null
  const post = old === undefined || begun >= known.post ? answered : old
  const likes = begun >= known.likes ? answered?.actions : (old?.actions ?? known.confirmed)
  if (!post || !likes) return post
  const { is_liked, likes_count } = likes
  return { ...post, actions: { ...post.actions, is_liked, likes_count } }
}

/** The post as cached now; null for one known to be deleted, undefined for one not read yet. */
export function readCachedPost(client: QueryClient, id: string): CachedPost | null | undefined {
  return client.getQueryData<CachedPost | null>(postKey(id))
}

/**
 * Changes the words or the replies of a cached post on every screen that shows it; does nothing to one that is missing or
 * not read yet. Reads begun before change it no more.
 */
export function changePost(
  client: QueryClient,
  id: string,
  change: (post: CachedPost) => CachedPost,
): void {
  knownOf(client, id).post = Math.max(knownOf(client, id).post, beginRead())
  updatePost(client, id, change)
}

/** Shows other likes of a cached post. Who calls it holds them. */
export function showLikes(client: QueryClient, id: string, likes: Likes): void {
  updatePost(client, id, (post) => ({ ...post, actions: { ...post.actions, ...likes } }))
}

function updatePost(
  client: QueryClient,
  id: string,
  update: (post: CachedPost) => CachedPost,
): void {
  client.setQueryData<CachedPost | null>(postKey(id), (old) => (old ? update(old) : old))
}

/** Puts a user's name on all of their cached posts. */
export function renameOwner(client: QueryClient, { id, username }: CachedPost['owner']): void {
  for (const [, post] of client.getQueriesData<CachedPost | null>({ queryKey: [POSTS] })) {
    if (post?.owner.id !== id) continue
    changePost(client, post.id, (named) => ({ ...named, owner: { id, username } }))
  }
}

/** Leaves a tombstone: the post was deleted, quotes of it turn into a placeholder, and no later answer revives it. */
export function buryPost(client: QueryClient, id: string): void {
  putMissing(client, id, FOR_EVER)
}

/** The cached post, kept up to date: null for a deleted one, undefined for one not read yet. */
export function usePost(id: string): CachedPost | null | undefined {
  return useQuery<CachedPost | null>({ queryKey: postKey(id), queryFn: skipToken, ...KEPT }).data
}
