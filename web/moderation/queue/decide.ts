import type { QueuedPost } from '../../../contract/moderation.ts'
import { focusContent } from '../../history/focus-content.ts'
import { whenDialogIsClosed } from '../../history/history.ts'
import { CallError } from '../../http/call-error.ts'
import { cancelDelayed, DELAY_MS, type DelayedWrite, delayWrite } from '../../http/delayed-write.ts'
import { errorMessage } from '../../http/error-message.ts'
import { serverNow } from '../../http/server-clock.ts'
import { createAtom } from '../../platform/atom.ts'
import { viewer, viewerId } from '../../session/viewer.ts'
import { toast } from '../../ui/toaster.tsx'
import {
  type Act,
  blockAuthor,
  blockEnd,
  type Decision,
  decidePost,
  endAct,
  showAct,
  shownPosts,
} from './queue.queries.ts'

const DAY_SECONDS = 86_400

/** The id of the post whose card takes the focus when it is shown. */
export const cardToFocus = createAtom<string | null>(null)

type Words = { done: string; cancelled: string; failed: string }

/** Removes or keeps a post. The next card gets the focus. */
export function decide(post: QueuedPost, decision: Decision): void {
  const { verdict, reason = '', block } = decision
  const done = DECISION_TOASTS[post.state][verdict] + (block ? ', автор заблокирован' : '')
  const posts = shownPosts().map(({ id }) => id)
  const at = posts.indexOf(post.id)
  const words = { done, cancelled: 'Решение отменено', failed: 'Решение не отправлено' }
  const blocked = block && blockOf(post, reason, block.days)
  begin({ postId: post.id, isDecided: true, ...(blocked && { blocked }) }, words, (by) =>
    decidePost(post.id, decision, by),
  )
  focusCard(posts[at + 1] ?? posts[at - 1])
}

/** Blocks the author of a post, which stays in the queue. */
export function block(post: QueuedPost, body: { reason: string; days: number | null }): void {
  const blocked = blockOf(post, body.reason, body.days)
  const words = {
    done: `Автор заблокирован ${blockEnd(blocked.block)}`,
    cancelled: 'Блокировка отменена',
    failed: 'Автор не заблокирован',
  }
  begin({ postId: post.id, isDecided: false, blocked }, words, (by) =>
    blockAuthor(post.author.id, body, by),
  )
}

function blockOf({ author }: QueuedPost, reason: string, days: number | null) {
  const until = days === null ? null : Math.floor(serverNow()) + days * DAY_SECONDS
  return { authorId: author.id, block: { reason, until } }
}

const DECISION_TOASTS: Record<QueuedPost['state'], Record<Decision['verdict'], string>> = {
  published: { remove: 'Запись удалена', keep: 'Запись оставлена' },
  hidden: { remove: 'Запись удалена', keep: 'Запись возвращена' },
  removed: { remove: 'Запись осталась удалённой', keep: 'Запись возвращена' },
  deleted: { remove: 'Нарушение отмечено', keep: 'Нарушения не нашли' },
}

/** Shows an act as done, and sends it after the time in which it can be cancelled. */
function begin(act: Act, words: Words, send: (by: string) => Promise<unknown>): void {
  const by = viewerId() ?? ''
  const write: DelayedWrite = {
    send: () =>
      send(by).then(
        () => endAct(act, true),
        (error) => fail(act, error, words.failed),
      ),
    onCancel() {
      endAct(act, false)
      toast({ text: words.cancelled }, { atOnce: true })
      focusCard(act.postId)
    },
  }
  const cancel = () => {
    if (!cancelDelayed(write)) toast({ text: 'Отменить уже нельзя' })
  }
  delayWrite(write)
  showAct(act)
  const link = { label: 'Отменить', onSelect: cancel }
  toast({ text: words.done, link }, { durationMs: DELAY_MS, atOnce: true })
}

function fail(act: Act, error: unknown, failed: string): void {
  const isDecided = error instanceof CallError && error.code === 'POST_NOT_FOUND'
  endAct(act, isDecided)
  const hasLeft = viewer.get().state === 'signed-out'
  const why = hasLeft ? 'Вы вышли из аккаунта' : errorMessage(error)
  toast({ text: isDecided ? 'Об этой записи уже решили' : `${failed}. ${why}` })
}

/** A post without a card leaves the focus to the page. */
function focusCard(postId: string | undefined): void {
  if (postId === undefined) whenDialogIsClosed(focusContent)
  else cardToFocus.set(postId)
}
