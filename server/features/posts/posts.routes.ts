import {
  createPost,
  deletePost as deletePostEndpoint,
  editPost as editPostEndpoint,
  listPosts,
  readPost,
} from '../../../contract/posts.ts'
import type { Change } from '../../kernel/cache/cache.ts'
import { type Db, isRowId, NO_USER, type Queryable } from '../../kernel/db/database.ts'
import type { RunRead } from '../../kernel/db/replica.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import type { Route } from '../../kernel/http/route.ts'
import type { NoteAccess } from '../../kernel/journal/access-journal.ts'
import type { Limit, Limits } from '../../kernel/limits/limits.ts'
import { likedBy, postsOf, readPostList, wall } from './post-lists.ts'
import { deletePost, editPost, requirePost, requireText } from './posts.service.ts'
import type { Publish } from './publications.service.ts'

const EDITS: Limit = {
  name: 'edit',
  rates: [[5, 10]],
  refusal: 'Записи нельзя менять так часто: следующая правка — через {time}',
}

type Options = {
  route: Route
  db: Db
  runRead: RunRead
  limits: Limits
  publish: Publish
  editPeriodSeconds: number
  /** For how many days a reported post that its author deletes stays as evidence. */
  removedDays: number
  isEvidence: (db: Queryable, id: string) => Promise<boolean>
  /** Invalidates cached reads on every node: awaited after the commit and before the response. */
  publishChange: (change: Change) => Promise<void>
  noteAccess: NoteAccess | undefined
}

export function registerPosts(options: Options): void {
  const { route, db, runRead, limits, publish, editPeriodSeconds } = options
  const { removedDays, isEvidence, publishChange, noteAccess } = options
  route(listPosts, async ({ query, viewer }) => {
    const { filter, userId, ...page } = query
    if (filter === 'liked') {
      if (!viewer) throw new AppError('UNAUTHORIZED')
      if (userId !== undefined && userId !== viewer.userId) {
        throw new AppError('INVALID_REQUEST', {
          message: 'Понравившиеся записи видит только тот, кому они понравились: уберите userId',
        })
      }
      const liked = likedBy(viewer.userId)
      return runRead(viewer, (from) => readPostList(from, liked, page, viewer))
    }
    const list = userId === undefined ? wall : postsOf(isRowId(userId) ? userId : NO_USER)
    return runRead(viewer, (from) => readPostList(from, list, page, viewer))
  })

  route(readPost, ({ params, viewer }) =>
    runRead(viewer, (from) => requirePost(from, params.id, viewer)),
  )

  route(
    createPost,
    ({ body, headers, viewer }, { request }) => {
      const idempotencyKey = headers['idempotency-key']
      return publish({ viewer, request, text: body.text, idempotencyKey, repliedId: null })
    },
    { checksSession: true },
  )

  route(editPostEndpoint, async ({ params: { id }, body, viewer }) => {
    const text = requireText(body.text)
    await limits.charge([{ limit: EDITS, key: viewer.userId }])
    const edit = { id, ownerId: viewer.userId, text, periodSeconds: editPeriodSeconds }
    const post = await editPost(db, edit)
    await publishChange(`posts changed ${id}`)
    return post
  })

  route(deletePostEndpoint, async ({ params, viewer }, { request }) => {
    const { userId } = viewer
    const own = { id: params.id, ownerId: userId, evidenceDays: removedDays, isEvidence }
    const act = { action: 'delete-post' as const, userId, postId: params.id, request }
    await deletePost(db, own, (tx) => noteAccess?.(tx, act))
    await publishChange(`posts changed ${params.id}`)
  })
}
