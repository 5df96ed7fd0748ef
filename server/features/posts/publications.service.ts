import { CLARIFY_SECONDS, MENTIONS_TOLD_MAX } from '../../../contract/constants.ts'
import { namesIn } from '../../../contract/mention-rules.ts'
import type { Post, PostBody } from '../../../contract/posts.ts'
import type { Change } from '../../kernel/cache/change-feed.ts'
import { type Db, isRowId, type Queryable } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import type { Viewer } from '../../kernel/http/route.ts'
import type { RecordAccess } from '../../kernel/journal/journal.ts'
import {
  type Charge,
  type Limit,
  type LimitRefusal,
  type Limits,
  tooMany,
} from '../../kernel/limits/limits.ts'
import { privateDomainOf } from '../../kernel/mail/email-address.ts'
import type { ServerContext } from '../../kernel/server-context.ts'
import { requirePost, toClarifications, toPost } from './hydrate-posts.ts'
import { requireValidBody } from './posts.service.ts'
import {
  findByIdempotencyKey,
  insertPost,
  type NewPost,
  selectClarifiable,
  setClarification,
} from './publications.repository.ts'

/** No post has this id. */
const NO_POST = '0'

const PUBLICATIONS: Limit = {
  name: 'publication',
  rates: [[5, 25]],
  refusal: 'Записи нельзя публиковать так часто: следующая — через {time}',
}

const NEWCOMER_PUBLICATIONS: Limit = {
  name: 'newcomer-publication',
  rates: [[5, 150]],
  refusal: 'В первые сутки записи публикуются реже: следующая — через {time}',
}

/**
 * Limits the first day of a mailbox's accounts: a 41st post would pass only after it. Each
 * of the first five names in a post counts as another post, also one that nobody has.
 */
const NEWCOMER_DAYS: Limit = {
  name: 'newcomer-day',
  rates: [[40, 40 * 86_400]],
  refusal:
    'В первые сутки записей и упоминаний может быть не так много: следующая запись — через {time}',
  isShared: true,
}

/**
 * Newcomers of one network, or of one organisation's mail domain, together. Thirty people may each
 * write a post at once; the next one comes within the five minutes for which browsers wait.
 */
const NEWCOMERS_POSTS: Omit<Limit, 'name' | 'refusal'> = {
  rates: [[30, 30 * 300]],
  isShared: true,
}
/** Replies push no post off the first page of the wall, so newcomers may write ten times as many. */
const NEWCOMERS_REPLIES: typeof NEWCOMERS_POSTS = {
  rates: [[300, 300 * 30]],
  isShared: true,
}

const NETWORK_POSTS: Limit = {
  ...NEWCOMERS_POSTS,
  name: 'newcomer-network-post',
  refusal: 'Новые авторы из вашей сети опубликовали много записей: следующая — через {time}',
}

const DOMAIN_POSTS: Limit = {
  ...NEWCOMERS_POSTS,
  name: 'newcomer-domain-post',
  refusal:
    'Новые авторы с почтой вашего домена опубликовали много записей: следующая — через {time}',
}

const NETWORK_REPLIES: Limit = {
  ...NEWCOMERS_REPLIES,
  name: 'newcomer-network-reply',
  refusal: 'Новые авторы из вашей сети опубликовали много ответов: следующий — через {time}',
}

const DOMAIN_REPLIES: Limit = {
  ...NEWCOMERS_REPLIES,
  name: 'newcomer-domain-reply',
  refusal:
    'Новые авторы с почтой вашего домена опубликовали много ответов: следующий — через {time}',
}

/** Counts for each post, so that its meaning does not change all the time. */
const CLARIFICATIONS: Limit = {
  name: 'clarification',
  rates: [[1, CLARIFY_SECONDS]],
  refusal: 'Запись можно уточнить раз в час: следующее уточнение — через {time}',
  isShared: true,
}

type Options = { db: Db } & Pick<
  ServerContext,
  'config' | 'limits' | 'lockWaitMs' | 'publishChange' | 'recordAccess'
>

type Publication = Pick<NewPost, 'repliedId' | 'idempotencyKey'> & {
  request: Parameters<RecordAccess>[1]['request']
  viewer: Viewer
  body: PostBody
  /** Whether the reply becomes the clarification of the replied post. */
  clarifies?: boolean
}

export type Publish = (publication: Publication) => Promise<Post>

type Published = { post: Post; repliedOwnerId: string | null; told: string[] }

/**
 * Creates the function that publishes within the limits. A retry with a known Idempotency-Key
 * returns the post of the first call, or rejects with POST_NOT_FOUND if it is gone. Neither retries
 * nor refused calls are charged.
 */
export function createPublish(options: Options): Publish {
  const { db, limits, publishChange } = options
  return async ({ viewer, body, request, repliedId: asked, idempotencyKey, clarifies = false }) => {
    const written = requireValidBody(body)
    const repliedId = asked === null || isRowId(asked) ? asked : NO_POST
    const newPost = { written, ownerId: viewer.userId, repliedId, idempotencyKey }
    const firstId = await findByIdempotencyKey(db, newPost)
    if (firstId !== undefined) return requirePost(db, firstId, viewer)
    const isReply = repliedId !== null
    const charges = chargesOf(viewer, { ip: request.ip, isReply, names: namesIn(written.text) })
    if (clarifies) {
      await requireClarifiable(newPost, options)
      charges.push({ limit: CLARIFICATIONS, key: repliedId ?? NO_POST })
    }
    const tripped = await limits.tryCharge(charges)
    if (tripped) throw refusedBy(tripped, viewer)
    const published = await insert({ ...newPost, clarifies }, request, options).catch(
      async (error) => {
        const refunded = limits.refund(charges).catch(() => {})
        // If the database failed, the caller would wait for its second timeout.
        if (error instanceof AppError) await refunded
        throw error
      },
    )
    if (published) {
      await publishChange(changeBy(newPost, published))
      return published.post
    }
    await limits.refund(charges)
    return requirePost(db, (await findByIdempotencyKey(db, newPost)) ?? NO_POST, viewer)
  }
}

/** Returns undefined if another call has just published with the same key. */
async function insert(
  { clarifies, ...newPost }: NewPost & { clarifies: boolean },
  request: Publication['request'],
  { db, lockWaitMs, recordAccess }: Options,
): Promise<Published | undefined> {
  const userId = newPost.ownerId
  const write = async (tx: Queryable) => {
    const [inserted, clarification] = await insertPost(tx, newPost, lockWaitMs)
    if (inserted.refusal === 'KEY_USED') return undefined
    if (inserted.refusal !== null) throw new AppError(inserted.refusal)
    if (clarifies) await setClarification(tx, { id: inserted.r_id, ownerId: userId }, inserted.id)
    const shown = clarifies ? inserted : clarification
    inserted.r_clarification_id = shown?.id ?? null
    const post = toPost(inserted, toClarifications(shown ? [shown] : []))
    if (!post) throw new AppError('UNAUTHORIZED')
    await recordAccess?.(tx, { action: 'publish', userId, postId: post.id, request })
    return { post, repliedOwnerId: inserted.r_owner_id, told: inserted.told }
  }
  return recordAccess || clarifies ? db.transaction().execute(write) : write(db)
}

/** Throws POST_NOT_FOUND for another's post, or INVALID_REQUEST for a post that needs no reply. */
async function requireClarifiable({ ownerId, repliedId }: NewPost, { db, config }: Options) {
  const periodSeconds = config.editPeriodSeconds
  const post = await selectClarifiable(db, { id: repliedId ?? NO_POST, ownerId, periodSeconds })
  if (!post) throw new AppError('POST_NOT_FOUND')
  if (post.isEditable) {
    throw new AppError('INVALID_REQUEST', {
      message: 'Эту запись ещё можно изменить, уточнение ей пока не нужно',
    })
  }
  if (post.isClarification) {
    throw new AppError('INVALID_REQUEST', {
      message: 'Это само уточнение. Чтобы заменить его, уточните запись ещё раз',
    })
  }
}

/** Includes a replied user who has muted the post: events are public and must not reveal a mute. */
function changeBy(
  { ownerId, repliedId }: NewPost,
  { post, repliedOwnerId, told }: Published,
): Change {
  const { id } = post
  if (repliedId === null) return { kind: 'added', newest: { id, by: ownerId }, answered: told }
  const repliedUsers = [repliedOwnerId ?? ownerId].filter((userId) => userId !== ownerId)
  return { kind: 'added', answered: [...repliedUsers, ...told, `${repliedId}:${id}:${ownerId}`] }
}

/** New accounts of one mailbox count as one, and those of one network or domain also together. */
function chargesOf(
  { userId, newcomer }: Viewer,
  { ip, isReply, names }: { ip: string; isReply: boolean; names: string[] },
): Charge[] {
  const own = { limit: PUBLICATIONS, key: userId }
  if (!newcomer) return [own]
  const { mailbox } = newcomer
  const [ofNetwork, ofDomain] = isReply
    ? [NETWORK_REPLIES, DOMAIN_REPLIES]
    : [NETWORK_POSTS, DOMAIN_POSTS]
  const domain = privateDomainOf(mailbox)
  return [
    own,
    { limit: NEWCOMER_PUBLICATIONS, key: mailbox },
    { limit: NEWCOMER_DAYS, key: mailbox, times: 1 + Math.min(names.length, MENTIONS_TOLD_MAX) },
    { limit: ofNetwork, ip },
    ...(domain === undefined ? [] : [{ limit: ofDomain, key: domain }]),
  ]
}

/** Charges a newcomer for the names that an edit adds. Rejects with TOO_MANY_REQUESTS. */
export async function chargeAddedNames(
  limits: Limits,
  { viewer, added, tx }: { viewer: Viewer; added: number; tx: Queryable },
): Promise<void> {
  if (!viewer.newcomer || added === 0) return
  const times = Math.min(added, MENTIONS_TOLD_MAX)
  const charge = { limit: NEWCOMER_DAYS, key: viewer.newcomer.mailbox, times }
  const tripped = await limits.tryCharge([charge], tx)
  if (tripped) throw refusedBy(tripped, viewer)
}

/** Returns the refusal; a limit of the first day makes nobody wait beyond that day. */
function refusedBy({ limit, wait }: LimitRefusal, { newcomer }: Viewer): AppError {
  const longest = limit === PUBLICATIONS || !newcomer ? wait : newcomer.secondsLeft
  return tooMany({ limit, wait: Math.min(wait, longest) })
}
