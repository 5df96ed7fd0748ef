import { useQueryClient } from '@tanstack/react-query'
import { UNDO_SECONDS } from '../../../contract/constants.ts'
import type { QueuedPost } from '../../../contract/moderation.ts'
import { whenDialogIsClosed } from '../../history/history.ts'
import { CallError } from '../../http/call-error.ts'
import { errorMessage } from '../../http/error-message.ts'
import { useAction } from '../../http/use-action.tsx'
import { focusContent } from '../../platform/focus-content.ts'
import { serverNow } from '../../session/server-clock.ts'
import { toast } from '../../ui/toaster.tsx'
import { SIGNS_IN_AGAIN } from './author-block.tsx'
import {
  type Decision,
  decidePost,
  leaveQueue,
  refreshQueue,
  undoDecision,
} from './queue.queries.ts'

type Undo = { run: () => void; until: number }

/** The last decision that was made on this page, for the key that undoes it. */
let lastUndo: Undo | null = null

export function undoLast(): void {
  if (lastUndo && serverNow() < lastUndo.until) lastUndo.run()
}

type DecideOptions = {
  post: QueuedPost
  /** Called after the decision, also if somebody else has decided. */
  onDecided?: () => void
  /** Where an error shows that leaves the post undecided. */
  errors?: 'line' | 'toast'
}

/** A decided post leaves the queue, the next one gets the focus, and a toast offers to undo it. */
export function useDecide({ post, onDecided, errors = 'line' }: DecideOptions) {
  const client = useQueryClient()
  const undo = useUndo(post.id)

  function leave(): void {
    const next = neighbourOf(post.id)
    leaveQueue(client, post.id)
    onDecided?.()
    focusCard(next)
  }

  return useAction({
    mutationFn: (decision: Decision) => decidePost(post.id, decision),
    onSuccess: ({ id, undoUntil }, { verdict, block }) => {
      leave()
      const run = () => undo.mutate({ id, hasBlocked: block !== undefined })
      lastUndo = { run, until: undoUntil }
      const text = block
        ? `${DECISION_TOASTS[post.state][verdict]}, автор заблокирован`
        : DECISION_TOASTS[post.state][verdict]
      toast(
        { text, link: { label: 'Отменить', onSelect: run } },
        { durationMs: UNDO_SECONDS * 1000, atOnce: true },
      )
      // More posts may wait than one answer contains.
      void refreshQueue(client)
    },
    onError: (error) => {
      const isDecided = error instanceof CallError && error.code === 'POST_NOT_FOUND'
      if (isDecided) leave()
      if (isDecided) toast({ text: 'Об этой записи уже решили' })
      else if (errors === 'toast') toast({ text: errorMessage(error) })
    },
  })
}

const DECISION_TOASTS: Record<QueuedPost['state'], Record<Decision['verdict'], string>> = {
  published: { remove: 'Запись удалена', keep: 'Запись оставлена' },
  hidden: { remove: 'Запись удалена', keep: 'Запись возвращена' },
  removed: { remove: 'Запись осталась удалённой', keep: 'Запись возвращена' },
  deleted: { remove: 'Нарушение отмечено', keep: 'Нарушения не нашли' },
}

function useUndo(postId: string) {
  const client = useQueryClient()
  return useAction({
    mutationFn: ({ id }: { id: string; hasBlocked: boolean }) => undoDecision(id),
    onSuccess: async (_, { hasBlocked }) => {
      lastUndo = null
      const text = hasBlocked ? `Решение отменено. ${SIGNS_IN_AGAIN}` : 'Решение отменено'
      toast({ text }, { atOnce: true })
      await refreshQueue(client)
      focusCard(postId)
    },
    onError: (error) => toast({ text: errorMessage(error) }, { atOnce: true }),
  })
}

function neighbourOf(postId: string): string | null {
  const ids = cards().map((card) => card.dataset.postId)
  const at = ids.indexOf(postId)
  return ids[at + 1] ?? ids[at - 1] ?? null
}

/** A post without a card leaves the focus to the page. */
function focusCard(postId: string | null): void {
  // TanStack Query notifies components in `setTimeout(0)`; this timer runs after it.
  whenDialogIsClosed(() => setTimeout(() => requestAnimationFrame(focus)))

  function focus(): void {
    const card = cards().find(({ dataset }) => dataset.postId === postId)
    if (!card) focusContent()
    card?.focus({ preventScroll: true })
    card?.scrollIntoView({ block: 'start' })
  }
}

export function focusedCardId(): string | undefined {
  return cards().find((card) => card.contains(document.activeElement))?.dataset.postId
}

function cards(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>('[data-queue] > article')]
}
