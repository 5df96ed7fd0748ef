import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { MODERATION_REASON_MAX } from '../../../contract/constants.ts'
import type { QueuedPost } from '../../../contract/moderation.ts'
import { errorMessage } from '../../http/error-message.ts'
import { useAction } from '../../http/use-action.tsx'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { FormError } from '../../ui/errors.tsx'
import { TextField } from '../../ui/field.tsx'
import { Modal, ModalFooter } from '../../ui/modal.tsx'
import { RadioGroup } from '../../ui/radio-group.tsx'
import { Loading } from '../../ui/spinner.tsx'
import { toast } from '../../ui/toaster.tsx'
import { useUnblock } from './author-block.tsx'
import styles from './block-dialog.module.css'
import { useDecide } from './decide.ts'
import { blockAuthor, blockEnd, refreshQueue, useQueue } from './queue.queries.ts'

const FOR_GOOD = 'for good'
const DURATIONS = [
  { value: '1', label: 'На день' },
  { value: '7', label: 'На неделю' },
  { value: '30', label: 'На месяц' },
  { value: FOR_GOOD, label: 'Навсегда' },
]

type BlockDialogProps = { postId: string; onClose: () => void }

/** The dialog can remove the post at once too. */
export function BlockDialog({ postId, onClose }: BlockDialogProps) {
  const { data: queue } = useQueue()
  const post = queue?.posts.find(({ id }) => id === postId)
  // The post leaves the queue when it is decided, while the dialog still closes.
  const [first, setFirst] = useState(post)
  if (!first && post) setFirst(post)
  return (
    <Modal title="Заблокировать автора" size="s" onClose={onClose}>
      {first && <BlockForm post={first} onClose={onClose} />}
      {!first && (queue ? <p>Об этой записи уже решили</p> : <Loading label="Загружаем запись" />)}
    </Modal>
  )
}

function BlockForm({ post, onClose }: { post: QueuedPost; onClose: () => void }) {
  const { author, state, reasons, appeal } = post
  const mayRemove = state === 'published' || state === 'hidden'
  const [duration, setDuration] = useState('7')
  const [reason, setReason] = useState(
    author.block?.reason ?? reasons[0]?.name ?? appeal?.removedFor ?? '',
  )
  const [removes, setRemoves] = useState(mayRemove)
  const decision = useDecide({ post, onDecided: onClose })
  const block = useBlock(post, onClose)
  const error = decision.error ?? block.error

  function submit(event: FormEvent): void {
    event.preventDefault()
    const why = reason.trim()
    const days = duration === FOR_GOOD ? null : Number(duration)
    if (why === '') return
    if (removes) decision.mutate({ verdict: 'remove', reason: why, block: { days } })
    else block.mutate({ reason: why, days })
  }

  return (
    <form onSubmit={submit}>
      <RadioGroup
        legend={`${author.username} не сможет писать, но сможет читать`}
        options={DURATIONS}
        value={duration}
        onChange={setDuration}
      />
      <TextField
        label="Причина"
        hint="Её увидит автор"
        value={reason}
        onChange={setReason}
        maxLength={MODERATION_REASON_MAX}
        required
      />
      <p className={styles.tip}>Все сессии автора завершатся, и отмена их не вернёт</p>
      {mayRemove && (
        <Checkbox label="Удалить и эту запись" checked={removes} onChange={setRemoves} />
      )}
      <FormError>{error && errorMessage(error)}</FormError>
      <ModalFooter>
        <Button onClick={onClose}>Отмена</Button>
        <Button
          type="submit"
          variant="confirm"
          disabled={reason.trim() === ''}
          pending={decision.isPending || block.isPending}
        >
          Заблокировать
        </Button>
      </ModalFooter>
    </form>
  )
}

/** The post stays in the queue. A first block can be undone by the toast. */
function useBlock({ author }: QueuedPost, onBlocked: () => void) {
  const client = useQueryClient()
  const unblock = useUnblock()
  return useAction({
    mutationFn: (body: { reason: string; days: number | null }) => blockAuthor(author.id, body),
    onSuccess: (block) => {
      const text = `Автор заблокирован ${blockEnd(block)}`
      const link = {
        label: 'Отменить',
        onSelect: () => unblock.mutate({ id: author.id, isUndo: true }),
      }
      toast(author.block ? { text } : { text, link }, { atOnce: true })
      onBlocked()
      void refreshQueue(client)
    },
  })
}
