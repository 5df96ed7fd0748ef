import type { Post } from '../../../contract/posts.ts'
import type { Change, PublishChange } from '../../kernel/cache/change.ts'
import { batchCalls } from '../../kernel/db/batch-calls.ts'
import { type Db, isRowId } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import type { Viewer } from '../../kernel/http/authenticate.ts'
import type { NoteAccess } from '../../kernel/journal/access-journal.ts'
import { type Charge, type Limit, type Limits, tooMany } from '../../kernel/limits/limits.ts'
import { NAMED_MAX } from '../../kernel/live/live.ts'
import { MAY_WRITE } from '../sessions/sessions.repository.ts'
import { requirePost, requireText } from './posts.service.ts'
import {
  findByIdempotencyKey,
  type Inserted,
  insertPosts,
  type NewPost,
  type OwnerState,
} from './publications.repository.ts'

const PUBLICATIONS: Limit = {
  name: 'publication',
  rates: [[5, 25]],
  refusal: 'Записи нельзя публиковать так часто: следующая — через {time}',
}

/** For accounts that are less than a day old, as the next. */
const NEWCOMER_PUBLICATIONS: Limit = {
  name: 'newcomer-publication',
  rates: [[5, 150]],
  refusal: 'В первые сутки записи публикуются реже: следующая — через {time}',
}

/** The 41st would pass a day after the first, when its author is no newcomer any more. */
const NEWCOMER_DAYS: Limit = {
  name: 'newcomer-day',
  rates: [[40, 40 * 86_400]],
  refusal: 'В первые сутки можно опубликовать не так много: следующая запись — через {time}',
  isShared: true,
}

type Options = {
  db: Db
  limits: Limits
  publishChange: PublishChange
  noteAccess: NoteAccess | undefined
  /** How long publications that share a statement wait for a lock of another transaction. */
  lockWaitMs?: number | undefined
}

type Submitted = NewPost & Pick<Parameters<NoteAccess>[1], 'request'>

type Publication = Omit<Submitted, 'ownerId' | 'sessionId'> & { viewer: Viewer }

export type Publish = (publication: Publication) => Promise<Post>

type Outcome = { post: Post } | { refusal: AppError; charged: Charge[] }

/**
 * Makes the function that publishes posts and replies within the limits. Calls that come while
 * others are being published share the next statement and its commit. A retry with a known
 * Idempotency-Key returns the post of the first call and is not charged; it rejects with
 * POST_NOT_FOUND when that post does not exist any more.
 */
export function createPublish({
  db,
  limits,
  publishChange,
  noteAccess,
  lockWaitMs = 250,
}: Options): Publish {
  const insert = batchCalls(insertTogether, { failsAlone: true })

  async function insertTogether(posts: Submitted[], isAlone: boolean) {
    const options = { lockWaitMs: isAlone ? 0 : lockWaitMs, mayWrite: MAY_WRITE }
    // One statement needs no transaction around it, which would cost two round trips.
    const inserted = noteAccess
      ? await db.transaction().execute(async (tx) => {
          const results = await insertPosts(tx, posts, options)
          await noteAccess(tx, ...accessesOf(posts, results))
          return results
        })
      : await insertPosts(db, posts, options)
    // Awaited by each call and not here, so that the next statement starts at once.
    const published = inserted.filter(({ post }) => post)
    const invalidated = published.length > 0 ? publishChange(changeBy(published)) : undefined
    return inserted.map((one) => ({ ...one, invalidated }))
  }

  async function attempt(newPost: Submitted, viewer: Viewer): Promise<Outcome> {
    const charged = chargesOf(viewer)
    const refused = await limits.tryCharge(charged)
    if (refused) return { refusal: tooMany(refused), charged: [] }
    if (newPost.repliedId !== null && !isRowId(newPost.repliedId)) {
      return { refusal: new AppError('POST_NOT_FOUND'), charged }
    }
    const { post, invalidated, ...state } = await insert(newPost)
    if (!post) return { refusal: refusalOf(state), charged }
    await invalidated
    return { post }
  }

  return async ({ viewer, text, ...rest }) => {
    const { userId: ownerId, checkSession } = viewer
    const sessionId = checkSession ? viewer.sessionId : null
    const newPost = { ownerId, sessionId, text: requireText(text), ...rest }
    const outcome = await attempt(newPost, viewer)
    if ('post' in outcome) return outcome.post
    // A retry is always refused, by the limit or by its key: only refused ones need a look-up.
    const { refusal, charged } = outcome
    await checkSession?.().catch(async (error) => {
      const refunded = limits.refund(charged)
      // After an error of the database the caller would wait for a second timeout.
      if (error instanceof AppError) await refunded
      else refunded.catch(() => {})
      throw error
    })
    const firstId = await findPublished(db, newPost)
    if (firstId === undefined) throw refusal
    await limits.refund(charged)
    return requirePost(db, firstId, viewer)
  }
}

/** Posts of one statement are in the order of their ids. */
function changeBy(published: Inserted[]): Change {
  const newest = published.findLast(({ post }) => post?.actions.replied_post_id === null)?.post
  const answered = new Set([...published.flatMap(repliedUser), ...published.flatMap(repliedAs)])
  return {
    kind: 'added',
    ...(newest && { newest: { id: newest.id, by: newest.owner.id } }),
    // One more than is named shows that there are many: a notification of PostgreSQL has 8000 bytes.
    answered: [...answered].slice(0, NAMED_MAX + 1),
  }
}

/** Also a user who has muted the post: the event is public and must not show that. */
function repliedUser({ post }: Inserted): string[] {
  const repliedId = post?.actions.replied_post?.owner.id
  return repliedId === undefined || repliedId === post?.owner.id ? [] : [repliedId]
}

function repliedAs({ post }: Inserted): string[] {
  const repliedId = post?.actions.replied_post_id
  return post && repliedId ? [`${repliedId}:${post.id}:${post.owner.id}`] : []
}

function chargesOf({ userId: key, isNewcomer = false }: Viewer): Charge[] {
  const limits = isNewcomer ? [PUBLICATIONS, NEWCOMER_PUBLICATIONS, NEWCOMER_DAYS] : [PUBLICATIONS]
  return limits.map((limit) => ({ limit, key }))
}

function accessesOf(posts: Submitted[], results: Inserted[]) {
  return posts.flatMap(({ ownerId, request }, at) => {
    const postId = results[at]?.post?.id
    return postId ? [{ action: 'publish' as const, userId: ownerId, postId, request }] : []
  })
}

function refusalOf({ hasOwner, isBlocked }: OwnerState): AppError {
  if (!hasOwner) return new AppError('UNAUTHORIZED')
  return new AppError(isBlocked ? 'BLOCKED' : 'POST_NOT_FOUND')
}

async function findPublished(db: Db, { ownerId, idempotencyKey }: NewPost) {
  if (idempotencyKey === undefined) return undefined
  return findByIdempotencyKey(db, ownerId, idempotencyKey)
}
