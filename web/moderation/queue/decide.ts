import type { QueuedPost } from '../../../contract/moderation.ts'
import { MODERATION_PATH } from '../../../contract/pages.ts'
import { openDialog } from '../../history/history.ts'
import { CallError, generalError } from '../../http/call-error.ts'
import { cancelDelayed, DELAY_MS, type DelayedWrite, delayWrite } from '../../http/delayed-write.ts'
import { errorMessage } from '../../http/error-message.ts'
import { serverNow } from '../../http/server-clock.ts'
import { createAtom } from '../../platform/atom.ts'
import { allCached, type CachedPost, putPost } from '../../posts/cache/post-cache.ts'
import { type Intent, keepIntent } from '../../session/intents.ts'
import { viewer, viewerId } from '../../session/viewer.ts'
import { toast } from '../../ui/overlay/toaster.tsx'
import {
  type Act,
  blockAuthor,
  blockEnd,
  DAY_SECONDS,
  type Decision,
  decidePost,
  endAct,
  isQueueShown,
  refreshQueue,
  showAct,
  shownPosts,
} from './queue.queries.ts'

/** The id of the post whose card takes the focus when it is rendered. */
export const cardToFocus = createAtom<string | null>(null)

type Words = { done: string; cancelled: string; failed: string }
type NewBlock = NonNullable<Decision['block']>

const WAVE_REMOVED = 'Записи за сутки удалены, автор заблокирован'

/**
 * Removes or keeps a post. On the wall, the post need not have been reported. `keep` keeps what is
 * typed in the dialog, which opens again after signing in if the session has ended.
 */
export function decide(post: QueuedPost, decision: Decision, keep?: () => void): void {
  const { verdict, reason = '', block } = decision
  const done = DECISION_TOASTS[post.state][verdict] + (block ? ', автор заблокирован' : '')
  const words = {
    done: block?.removesRecent ? WAVE_REMOVED : done,
    cancelled: 'Решение отменено',
    failed: 'Решение не отправлено',
  }
  const blocked = block && blockOf(post, reason, block)
  const act: Act = { postIds: [post.id], verdict, ...(blocked && { blocked }) }
  const body = { ...decision, ...(!isQueueShown() && { unreported: true as const }) }
  const name = block ? 'block-author' : 'remove-post'
  const reopen: Intent = keep ? { name, postId: post.id } : { name: 'go', path: MODERATION_PATH }
  beginAct(act, { words, reopen, keep, send: (by) => decidePost(post.id, body, by) })
}

/** Removes or keeps several posts of the queue, each by a decision of its own. */
export function decideAll(posts: readonly QueuedPost[], verdict: Decision['verdict']): void {
  const postIds = posts.map(({ id }) => id)
  const words = {
    done: `Записи ${verdict === 'remove' ? 'удалены' : 'оставлены'}: ${posts.length}`,
    cancelled: 'Решение отменено',
    failed: 'Не все решения отправлены',
  }
  const send = async (by: string) => {
    const errors: unknown[] = []
    const decideOne = (id: string) =>
      decidePost(id, { verdict }, by).catch((error) => errors.push(error))
    await Promise.all(postIds.map(decideOne))
    if (errors.length === 0) return
    // Some may be decided already. The queue shows which.
    await refreshQueue()
    throw errors.find((error) => !isDecided(error)) ?? errors[0]
  }
  const reopen: Intent = { name: 'go', path: MODERATION_PATH }
  beginAct({ postIds, verdict }, { words, reopen, keep: undefined, send })
}

/**
 * Blocks the author of a post, which stays in the queue unless it is removed with others. `keep` is
 * that of decide().
 */
export function block(
  post: QueuedPost,
  body: NewBlock & { reason: string },
  keep: () => void,
): void {
  const blocked = blockOf(post, body.reason, body)
  const words = {
    done: body.removesRecent ? WAVE_REMOVED : `Автор заблокирован ${blockEnd(blocked.block)}`,
    cancelled: 'Блокировка отменена',
    failed: 'Автор не заблокирован',
  }
  const send = (by: string) => blockAuthor(post.author.id, body, by)
  const reopen: Intent = { name: 'block-author', postId: post.id }
  beginAct({ postIds: [post.id], blocked }, { words, reopen, keep, send })
}

function blockOf({ author }: QueuedPost, reason: string, { days, removesRecent }: NewBlock) {
  const until = days === null ? null : Math.floor(serverNow()) + days * DAY_SECONDS
  return { authorId: author.id, block: { reason, until }, ...(removesRecent && { removesRecent }) }
}

const DECISION_TOASTS: Record<QueuedPost['state'], Record<Decision['verdict'], string>> = {
  published: { remove: 'Запись удалена', keep: 'Запись оставлена' },
  hidden: { remove: 'Запись удалена', keep: 'Запись возвращена' },
  removed: { remove: 'Запись осталась удалённой', keep: 'Запись возвращена' },
  deleted: { remove: 'Нарушение отмечено', keep: 'Нарушения не нашли' },
}

type Sending = {
  words: Words
  /** Opens what the moderator has decided in again, after signing in. */
  reopen: Intent
  keep: (() => void) | undefined
  send: (by: string) => Promise<unknown>
}

/** Shows an act as done, and sends it later unless it is cancelled. Focuses the next card. */
function beginAct(act: Act, sending: Sending): void {
  const { words, send } = sending
  const isInQueue = isQueueShown()
  const by = viewerId() ?? ''
  const removed = postsRemovedBy(act)
  const end = (isDone: boolean) => {
    for (const post of removed) putPost(post.id, isDone ? null : post)
    endAct(act, isDone)
  }
  const write: DelayedWrite = {
    send: () =>
      send(by).then(
        () => end(true),
        (error) => end(tellFailure(error, { ...sending, by })),
      ),
    onCancel() {
      end(false)
      toast({ text: words.cancelled })
      if (isInQueue) cardToFocus.set(act.postIds[0] ?? null)
    },
  }
  const cancel = () => {
    if (!cancelDelayed(write)) toast({ text: 'Отменить уже нельзя' })
  }
  delayWrite(write)
  const before = shownPosts()
  showAct(act)
  // Lists leave out posts that are missing.
  for (const { id } of removed) putPost(id, null)
  if (isInQueue) focusNext(act.postIds, before)
  const link = { label: 'Отменить', onSelect: cancel }
  toast({ text: words.done, link }, { durationMs: DELAY_MS })
}

/** Shows why an act failed. Returns true if another moderator has decided: the act stays shown. */
function tellFailure(error: unknown, { words, reopen, keep, by }: Sending & { by: string }) {
  const hasEnded = viewer.get().state === 'signed-out'
  const is401 = error instanceof CallError && error.status === 401
  // The server answers 404 to a visitor, who may not know of these calls.
  const why = errorMessage(hasEnded && !is401 ? generalError('UNAUTHORIZED') : error)
  const text = isDecided(error) ? 'Об этой записи уже решили' : `${words.failed}. ${why}`
  if (hasEnded) {
    keep?.()
    keepIntent({ ...reopen, by })
  }
  const link = { label: 'Войти', onSelect: () => openDialog({ name: 'sign-in' }) }
  // It answers an earlier act, and must not take away the undo of a later one.
  toast({ text, ...(hasEnded && { link }) }, { waits: true })
  return isDecided(error)
}

function isDecided(error: unknown): boolean {
  return error instanceof CallError && error.code === 'POST_NOT_FOUND'
}

function focusNext(postIds: readonly string[], before: readonly QueuedPost[]): void {
  const left = shownPosts()
  if (left.some(({ id }) => postIds.includes(id))) return
  const after = before.slice(before.findIndex(({ id }) => id === postIds.at(-1)) + 1)
  const next = after.find((post) => left.some(({ id }) => id === post.id)) ?? left.at(-1)
  if (next) cardToFocus.set(next.id)
}

function postsRemovedBy({ postIds, verdict, blocked }: Act): CachedPost[] {
  const since = serverNow() - DAY_SECONDS
  return allCached().filter(({ id, owner, created_at }) => {
    const isOfDay = blocked?.removesRecent && owner.id === blocked.authorId && created_at > since
    return isOfDay || (verdict === 'remove' && postIds.includes(id))
  })
}
