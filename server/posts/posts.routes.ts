import { createPost, deletePost, editPost, listPosts, readPost } from '../../contract/posts.ts'
import { isRowId } from '../db/row-id.ts'
import type { Features } from '../features.ts'
import { AppError } from '../http/app-error.ts'
import { likedPosts, removeLikesOf } from '../likes/likes.ts'
import { type PostList, readPostList } from './post-list.store.ts'
import { selectPost } from './post-views.store.ts'
import {
  type Edit,
  lockOwnPost,
  postsOf,
  removePost,
  selectEdited,
  updateText,
  wall,
} from './posts.store.ts'
import { publishPost, requireText } from './publish.ts'

export function registerPosts({ route, db, limits, config }: Features): void {
  route(listPosts, async ({ query, viewer }) => {
    const { filter = 'all', userId, ...page } = query
    return readPostList(db, chooseList({ filter, userId, viewer }), page, viewer)
  })

  route(readPost, async ({ params, viewer }) => {
    const post = isRowId(params.id) && (await selectPost(db, params.id, viewer))
    if (!post) throw new AppError('POST_NOT_FOUND')
    return post
  })

  route(createPost, async ({ body, headers, viewer }) => {
    await limits.publications.charge(viewer.userId)
    const key = headers['idempotency-key']
    return publishPost(db, { ownerId: viewer.userId, text: body.text, key })
  })

  route(editPost, async ({ params, body, viewer }) => {
    const edit: Edit = {
      id: params.id,
      ownerId: viewer.userId,
      text: requireText(body.text),
      periodSeconds: config.editPeriodSeconds,
    }
    const changed = isRowId(edit.id) && (await updateText(db, edit))
    if (!changed) throw await whyUnchanged(edit)
    const post = await selectPost(db, edit.id, viewer)
    if (!post) throw new AppError('POST_NOT_FOUND')
    return post
  })

  route(deletePost, ({ params, viewer }) =>
    db.transaction().execute(async (tx) => {
      const isOurs = isRowId(params.id) && (await lockOwnPost(tx, params.id, viewer.userId))
      if (!isOurs) throw new AppError('POST_NOT_FOUND')
      await removeLikesOf(tx, params.id)
      await removePost(tx, params.id)
    }),
  )

  async function whyUnchanged(edit: Edit): Promise<AppError> {
    const post = isRowId(edit.id) ? await selectEdited(db, edit) : undefined
    if (!post) return new AppError('POST_NOT_FOUND')
    if (post.is_late) return new AppError('EDIT_PERIOD_EXPIRED')
    return new AppError('INVALID_REQUEST', { message: 'Текст не изменился' })
  }
}

type Choice = {
  filter: string
  userId: string | undefined
  viewer: { userId: string } | null
}

function chooseList({ filter, userId, viewer }: Choice): PostList {
  if (filter === 'liked') {
    if (!viewer) throw new AppError('UNAUTHORIZED')
    if (userId !== undefined) throw new AppError('INVALID_REQUEST')
    return likedPosts(viewer.userId)
  }
  if (userId === undefined) return wall
  // An id that can name no row is an owner without posts, like any unknown one.
  return postsOf(isRowId(userId) ? userId : '0')
}
