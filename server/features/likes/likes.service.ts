import { postIdsOf } from '../../../contract/post-rules.ts'
import type { Clarification, Post, PostPage, RepliedPost } from '../../../contract/posts.ts'
import type { ViewerFlag } from '../../kernel/cache/response-cache.ts'
import type { Db, Queryable } from '../../kernel/db/database.ts'
import { SharedRead } from '../../kernel/db/shared-read.ts'
import type { Authenticator } from '../../kernel/http/route.ts'
import { deletePosts, lockMarked, lockPostsOf } from '../posts/hidden-posts.repository.ts'
import { deleteLikesOf, LIKES_STEP, type Reader, selectLikedPosts } from './likes.repository.ts'

/** Erases the posts that are marked for it, in steps. It may be interrupted or run twice at once. */
export async function purgePosts(db: Db, stopping?: Promise<never>): Promise<void> {
  let erased: number
  do {
    const step = db.transaction().execute(async (tx) => erasePosts(tx, await lockMarked(tx)))
    erased = await Promise.race([step, stopping ?? step])
  } while (erased > 0)
}

/** Erases some of a user's hidden posts, or of their likes. Returns 0 if nothing was left. */
export async function erasePostsOf(tx: Queryable, ownerId: string): Promise<number> {
  return erasePosts(tx, await lockPostsOf(tx, ownerId, 'hidden'))
}

async function erasePosts(tx: Queryable, ids: string[]): Promise<number> {
  const likes = await deleteLikesOf(tx, ids)
  if (likes < LIKES_STEP) await deletePosts(tx, ids)
  return likes + ids.length
}

/** Creates the part of the cache that adds each viewer's own likes to responses. */
export function createLikeFlag(db: Db, auth: Pick<Authenticator, 'areLive'>): ViewerFlag {
  const reads = new SharedRead(async (readers: Reader[]) => {
    const [areLive, liked] = await Promise.all([
      auth.areLive(readers.map(({ viewer }) => viewer)),
      selectLikedPosts(db, readers),
    ])
    return readers.map(({ viewer }, n) =>
      areLive[n] ? (liked.get(viewer.userId) ?? new Set<string>()) : null,
    )
  })
  return {
    postIdsOf: postIdsOf as ViewerFlag['postIdsOf'],
    setFor: (answer, postIds) => withLikes(answer as Post | PostPage, postIds),
    trueFor: (viewer, postIds) => reads.call({ viewer, postIds }),
  }
}

function withLikes(answer: Post | PostPage, liked: ReadonlySet<string>): Post | PostPage {
  if ('posts' in answer) {
    return { ...answer, posts: answer.posts.map((post) => withLike(post, liked)) }
  }
  return withLike(answer, liked)
}

function withLike(post: Post, liked: ReadonlySet<string>): Post {
  const { replied_post } = post.actions
  const flagged = withOwnLike(post, liked)
  return {
    ...flagged,
    actions: { ...flagged.actions, replied_post: replied_post && withOwnLike(replied_post, liked) },
  }
}

/** Sets the likes of a post and of its clarification. */
function withOwnLike<P extends Post | RepliedPost | Clarification>(
  post: P,
  liked: ReadonlySet<string>,
): P {
  const flagged = { ...post, actions: { ...post.actions, is_liked: liked.has(post.id) } }
  if (!('clarification' in post) || !post.clarification) return flagged
  return { ...flagged, clarification: withOwnLike(post.clarification, liked) }
}
