import type { Post, PostBody } from '../../../contract/posts.ts'
import type { Change } from '../../kernel/cache/change-feed.ts'
import { BatchedCalls } from '../../kernel/db/batch-calls.ts'
import { isRowId } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import type { Node } from '../../kernel/feature.ts'
import type { Viewer } from '../../kernel/http/route.ts'
import type { NoteAccess } from '../../kernel/journal/journal.ts'
import { type Charge, type Limit, type Refused, tooMany } from '../../kernel/limits/limits.ts'
import { privateDomainOf } from '../../kernel/mail/email-address.ts'
import { MAY_WRITE } from '../sessions/sessions.repository.ts'
import { requirePost } from './hydrate-posts.ts'
import { requireWritten } from './posts.service.ts'
import {
  findByIdempotencyKey,
  insertPosts,
  type NewPost,
  type Published,
} from './publications.repository.ts'

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

/** Limits the first day of a mailbox's accounts: a 41st post would pass only after it. */
const NEWCOMER_DAYS: Limit = {
  name: 'newcomer-day',
  rates: [[40, 40 * 86_400]],
  refusal: 'В первые сутки можно опубликовать не так много: следующая запись — через {time}',
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

type Options = Pick<Node, 'db' | 'limits' | 'publishChange' | 'noteAccess'> & {
  /** How long publications that share a statement wait for a lock of another transaction. */
  lockWaitMs?: number | undefined
}

const NO_POST = '0'

type Submitted = NewPost & Pick<Parameters<NoteAccess>[1], 'request'>

type Publication = Pick<Submitted, 'repliedId' | 'idempotencyKey' | 'request'> & {
  viewer: Viewer
  body: PostBody
}

export type Publish = (publication: Publication) => Promise<Post>

/** `post` is set for a published reply. */
type Outcome = Awaited<ReturnType<typeof insertPosts>>[number] & { post?: Post }

/**
 * Creates the function that publishes within the limits. Calls that arrive while a statement runs
 * share the next statement. A retry with a known Idempotency-Key returns the post of the first
 * call, or rejects with POST_NOT_FOUND if it is gone. Refused calls are not charged.
 */
export function createPublish(options: Options): Publish {
  const { db, limits, publishChange } = options
  const insertions = new BatchedCalls(
    (posts: Submitted[], isAlone) => insertNoted(posts, isAlone, options),
    { failsAlone: true },
  )
  return async ({ viewer, body, repliedId: asked, ...rest }) => {
    const { userId: ownerId, checkSession } = viewer
    const sessionId = checkSession ? viewer.sessionId : null
    const written = requireWritten(body)
    const repliedId = asked === null || isRowId(asked) ? asked : NO_POST
    const newPost = { written, ownerId, sessionId, repliedId, ...rest }
    const charges = chargesOf(viewer, { ip: rest.request.ip, isReply: asked !== null })
    const tripped = await limits.tryCharge(charges)
    const insert = () =>
      insertions.call(newPost).catch((error) => {
        // Not awaited: the caller would wait for a second timeout of the database.
        limits.refund(charges).catch(() => {})
        throw error
      })
    const outcome = tripped ? undefined : await insert()
    if (outcome?.refusal === null) {
      await publishChange(changeBy(newPost, outcome))
      return outcome.post ?? newPostOf(newPost, outcome)
    }
    // A retry is always refused, by the limit or by its key: only refused calls need a look-up.
    if (!tripped) await limits.refund(charges)
    await checkSession?.()
    const { idempotencyKey } = rest
    const firstId = idempotencyKey && (await findByIdempotencyKey(db, ownerId, idempotencyKey))
    if (!firstId) throw tripped ? refusedBy(tripped, viewer) : refusalOf(outcome?.refusal)
    return requirePost(db, firstId, viewer)
  }
}

async function insertNoted(
  posts: Submitted[],
  isAlone: boolean,
  { db, noteAccess, lockWaitMs = 250 }: Options,
): Promise<Outcome[]> {
  const options = { lockWaitMs: isAlone ? 0 : lockWaitMs, mayWrite: MAY_WRITE }
  // One statement needs no transaction around it, which would cost two round trips.
  if (!noteAccess && posts.every(({ repliedId }) => repliedId === null)) {
    return insertPosts(db, posts, options)
  }
  return db.transaction().execute(async (tx) => {
    const outcomes: Outcome[] = await insertPosts(tx, posts, options)
    const accesses: Parameters<NoteAccess>[1][] = []
    for (const [n, { ownerId, repliedId, request }] of posts.entries()) {
      const outcome = outcomes[n]
      if (outcome?.refusal !== null) continue
      accesses.push({ action: 'publish', userId: ownerId, postId: outcome.id, request })
      // The replied post is locked, so it cannot change before the reply is read.
      if (repliedId !== null) outcome.post = await requirePost(tx, outcome.id, { userId: ownerId })
    }
    await noteAccess?.(tx, ...accesses)
    return outcomes
  })
}

function refusalOf(refusal: Outcome['refusal'] = null): AppError {
  return new AppError(refusal === null || refusal === 'KEY_USED' ? 'POST_NOT_FOUND' : refusal)
}

/** Includes a replied user who has muted the post: events are public and must not reveal a mute. */
function changeBy({ ownerId, repliedId }: NewPost, { id, replied_owner_id }: Published): Change {
  if (repliedId === null) return { kind: 'added', newest: { id, by: ownerId }, answered: [] }
  const repliedUsers = [replied_owner_id ?? ownerId].filter((userId) => userId !== ownerId)
  return { kind: 'added', answered: [...repliedUsers, `${repliedId}:${id}:${ownerId}`] }
}

function newPostOf({ ownerId, written }: NewPost, { id, created_at, username }: Published): Post {
  return {
    id,
    ...written,
    created_at,
    is_modified: false,
    owner: { id: ownerId, username },
    actions: {
      is_liked: false,
      likes_count: 0,
      replies_count: 0,
      parent_post_id: null,
      replied_post_id: null,
      replied_post: null,
    },
  }
}

/** New accounts of one mailbox count as one, and those of one network or domain also together. */
function chargesOf(
  { userId, newcomer }: Viewer,
  { ip, isReply }: { ip: string; isReply: boolean },
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
    { limit: NEWCOMER_DAYS, key: mailbox },
    { limit: ofNetwork, ip },
    ...(domain === undefined ? [] : [{ limit: ofDomain, key: domain }]),
  ]
}

/** Returns the refusal; a limit of the first day makes nobody wait beyond that day. */
function refusedBy({ limit, wait }: Refused, { newcomer }: Viewer): AppError {
  const longest = limit === PUBLICATIONS || !newcomer ? wait : newcomer.secondsLeft
  return tooMany({ limit, wait: Math.min(wait, longest) })
}
