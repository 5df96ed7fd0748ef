import {
  createPost,
  deletePost,
  editPost,
  listPosts,
  type Post,
  readPost,
} from '../../contract/posts.ts'
import type { Db } from '../db/database.ts'
import { isRowId } from '../db/row-id.ts'
import type { Features } from '../features.ts'
import { AppError } from '../http/app-error.ts'
import { API_PREFIX } from '../http/route.ts'
import { likedPosts, removeLikesOf } from '../likes/likes.service.ts'
import { type Looker, selectPost } from './hydrate-posts.ts'
import { readPostList } from './post-lists.repository.ts'
import {
  type Edit,
  lockOwnPost,
  postsOf,
  removePost,
  selectEdited,
  updateText,
  wall,
} from './posts.repository.ts'
import { isRetry, publishPost, requireText } from './publish.service.ts'

export function registerPosts({ route, db, limits, config, changed }: Features): void {
  route(listPosts, async ({ query, viewer }) => {
    const { filter, userId, ...page } = query
    if (filter === 'liked') {
      if (!viewer) throw new AppError('UNAUTHORIZED')
      if (userId !== undefined) throw new AppError('INVALID_REQUEST')
      return readPostList(db, likedPosts(viewer.userId), page, viewer)
    }
    const list = userId === undefined ? wall : postsOf(isRowId(userId) ? userId : NO_ONE)
    return readPostList(db, list, page, viewer)
  })

  route(readPost, async ({ params: { id }, viewer }) => {
    if (!isRowId(id)) throw new AppError('POST_NOT_FOUND')
    return requireView(db, id, viewer)
  })

  route(createPost, async ({ body, headers, viewer }) => {
    const text = requireText(body.text)
    const draft = { ownerId: viewer.userId, text, key: headers['idempotency-key'] }
    if (!(await isRetry(db, draft))) await limits.publications.charge(viewer.userId)
    const { post, isNew } = await publishPost(db, draft)
    if (isNew) await changed('posts')
    return post
  })

  route(editPost, async ({ params, body, viewer }) => {
    const edit: Edit = {
      id: params.id,
      ownerId: viewer.userId,
      text: requireText(body.text),
      periodSeconds: config.editPeriodSeconds,
    }
    await limits.edits.charge(viewer.userId)
    const isChanged = isRowId(edit.id) && (await updateText(db, edit))
    if (!isChanged) throw await whyUnchanged(edit)
    await changed('posts')
    return requireView(db, edit.id, viewer)
  })

  route(deletePost, async ({ params, viewer }) => {
    await db.transaction().execute(async (tx) => {
      const isOurs = isRowId(params.id) && (await lockOwnPost(tx, params.id, viewer.userId))
      if (!isOurs) throw new AppError('POST_NOT_FOUND')
      await removeLikesOf(tx, params.id)
      await removePost(tx, params.id)
    })
    await changed('posts')
  })

  async function whyUnchanged(edit: Edit): Promise<AppError> {
    const post = isRowId(edit.id) ? await selectEdited(db, edit) : undefined
    if (!post) return new AppError('POST_NOT_FOUND')
    if (post.is_late) return new AppError('EDIT_PERIOD_EXPIRED')
    return new AppError('INVALID_REQUEST', { message: 'Текст не изменился' })
  }
}

/** A post as any visitor sees it, for its page: one read with the call that the page makes. Throws POST_NOT_FOUND. */
export async function readPostForPage(
  { db, readAsVisitor }: Pick<Features, 'db' | 'readAsVisitor'>,
  id: string,
): Promise<Post> {
  if (!isRowId(id)) throw new AppError('POST_NOT_FOUND')
  const url = API_PREFIX + readPost.path.replace(':id', id)
  return readAsVisitor({ endpoint: readPost, url }, () => requireView(db, id, null))
}

async function requireView(db: Db, id: string, viewer: Looker): Promise<Post> {
  const post = await selectPost(db, id, viewer)
  if (!post) throw new AppError('POST_NOT_FOUND')
  return post
}

/** An id that can name no user owns no posts, like any unknown one. */
const NO_ONE = '0'
