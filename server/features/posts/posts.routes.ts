import * as calls from '../../../contract/posts.ts'
import { isRowId, NO_USER } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import type { Limit } from '../../kernel/limits/limits.ts'
import type { BackgroundWork, ServerContext } from '../../kernel/server-context.ts'
import { requirePost } from './hydrate-posts.ts'
import { likedPostsOf, postsOf, readPostList, wallPosts } from './post-lists.ts'
import { deletePost, editPost, lockPost, requireValidBody } from './posts.service.ts'
import { removeOldKeys, setClarification } from './publications.repository.ts'
import { chargeAddedNames, type Publish } from './publications.service.ts'

const EDITS: Limit = {
  name: 'edit',
  rates: [[5, 10]],
  refusal: 'Записи нельзя менять так часто: следующая правка — через {time}',
}

export function registerPosts(context: ServerContext, publish: Publish): BackgroundWork {
  const { route, db, limits, publishChange, recordAccess } = context
  const { editPeriodSeconds, removedDays } = context.config
  route(calls.listPosts, async ({ query, viewer }, { request: { ip } }) => {
    const { filter, userId, ...place } = query
    const page = { ...place, ip }
    if (filter === 'liked') {
      if (!viewer) throw new AppError('UNAUTHORIZED')
      if (userId !== undefined && userId !== viewer.userId) {
        throw new AppError('INVALID_REQUEST', {
          message: 'Понравившиеся записи видит только тот, кому они понравились: уберите userId',
        })
      }
      return readPostList(db, likedPostsOf(viewer.userId), page, viewer)
    }
    const list = userId === undefined ? wallPosts : postsOf(isRowId(userId) ? userId : NO_USER)
    return readPostList(db, list, page, viewer)
  })

  route(calls.readPost, ({ params, viewer }) => requirePost(db, params.id, viewer))

  route(calls.createPost, ({ body, headers, viewer }, { request }) => {
    const idempotencyKey = headers['idempotency-key']
    return publish({ viewer, request, body, idempotencyKey, repliedId: null })
  })

  route(calls.editPost, async ({ params: { id }, body, viewer }) => {
    const written = requireValidBody(body)
    await limits.charge([{ limit: EDITS, key: viewer.userId }])
    const edit = { id, ownerId: viewer.userId, written, periodSeconds: editPeriodSeconds }
    const { post, told } = await editPost(db, edit, (tx, added) =>
      chargeAddedNames(limits, { viewer, added, tx }),
    )
    await publishChange({ kind: 'edited', postId: id })
    if (told.length > 0) await publishChange({ kind: 'added', answered: told })
    return post
  })

  route(calls.clarifyPost, ({ params, body, headers, viewer }, { request }) => {
    const idempotencyKey = headers['idempotency-key']
    const repliedId = params.id
    return publish({ viewer, request, body, idempotencyKey, repliedId, clarifies: true })
  })

  route(calls.removeClarification, async ({ params: { id }, viewer }) => {
    const { post, isChanged } = await db.transaction().execute(async (tx) => {
      // Otherwise a moderator may bring the post back between the two statements.
      if (!(await lockPost(tx, id))) throw new AppError('POST_NOT_FOUND')
      const isChanged = await setClarification(tx, { id, ownerId: viewer.userId }, null)
      return { post: await requirePost(tx, id, viewer), isChanged }
    })
    if (post.owner.id !== viewer.userId) throw new AppError('POST_NOT_FOUND')
    if (isChanged) await publishChange({ kind: 'edited', postId: id })
    return post
  })

  route(calls.deletePost, async ({ params: { id }, viewer: { userId } }, { request }) => {
    await db.transaction().execute(async (tx) => {
      await deletePost(tx, { id, ownerId: userId, evidenceDays: removedDays })
      await recordAccess?.(tx, { action: 'delete-post', userId, postId: id, request })
    })
    await publishChange({ kind: 'removed', postId: id })
  })

  return { pruning: [removeOldKeys] }
}
