import {
  createPost,
  deletePost as deletePostEndpoint,
  editPost as editPostEndpoint,
  listPosts,
  type Post,
  readPost,
} from '../../contract/posts.ts'
import type { Db } from '../db/database.ts'
import { isRowId } from '../db/row-id.ts'
import { AppError } from '../http/app-error.ts'
import { API_PREFIX, type Route } from '../http/route.ts'
import type { Limits } from '../rate-limits/rate-limits.ts'
import type { ResponseCache } from '../response-cache/response-cache.ts'
import { likedBy, postsOf, readPostList, wall } from './post-lists.ts'
import {
  deletePost,
  editPost,
  isRetry,
  publishPost,
  requirePost,
  requireText,
} from './posts.service.ts'

type Options = {
  route: Route
  db: Db
  limits: Pick<Limits, 'publications' | 'edits'>
  editPeriodSeconds: number
  /** Invalidates cached reads on every node. To be awaited after a commit and before its answer. */
  invalidate: () => Promise<void>
}

export function registerPosts({ route, db, limits, editPeriodSeconds, invalidate }: Options): void {
  route(listPosts, async ({ query, viewer }) => {
    const { filter, userId, ...page } = query
    if (filter === 'liked') {
      if (!viewer) throw new AppError('UNAUTHORIZED')
      if (userId !== undefined) throw new AppError('INVALID_REQUEST')
      return readPostList(db, likedBy(viewer.userId), page, viewer)
    }
    const list = userId === undefined ? wall : postsOf(isRowId(userId) ? userId : NO_USER)
    return readPostList(db, list, page, viewer)
  })

  route(readPost, async ({ params: { id }, viewer }) => {
    if (!isRowId(id)) throw new AppError('POST_NOT_FOUND')
    return requirePost(db, id, viewer)
  })

  route(createPost, async ({ body, headers, viewer }) => {
    const text = requireText(body.text)
    const input = { ownerId: viewer.userId, text, key: headers['idempotency-key'] }
    if (!(await isRetry(db, input))) await limits.publications.charge(viewer.userId)
    const { post, isNew } = await publishPost(db, input)
    if (isNew) await invalidate()
    return post
  })

  route(editPostEndpoint, async ({ params: { id }, body, viewer }) => {
    const text = requireText(body.text)
    await limits.edits.charge(viewer.userId)
    await editPost(db, { id, ownerId: viewer.userId, text, periodSeconds: editPeriodSeconds })
    await invalidate()
    return requirePost(db, id, viewer)
  })

  route(deletePostEndpoint, async ({ params, viewer }) => {
    await deletePost(db, params.id, viewer.userId)
    await invalidate()
  })
}

/**
 * Reads a post as any visitor sees it, for its page. It shares the cached response of the API call that the page makes. Throws
 * POST_NOT_FOUND.
 */
export async function readPostForPage(
  { db, readAsVisitor }: { db: Db; readAsVisitor: ResponseCache['readAsVisitor'] },
  id: string,
): Promise<Post> {
  if (!isRowId(id)) throw new AppError('POST_NOT_FOUND')
  const url = API_PREFIX + readPost.path.replace(':id', id)
  return readAsVisitor({ endpoint: readPost, url }, () => requirePost(db, id, null))
}

/** No user has this id. It stands for ids that are not numbers, whose lists are empty too. */
const NO_USER = '0'
