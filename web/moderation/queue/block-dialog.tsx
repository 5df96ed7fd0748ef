import { type FormEvent, useState } from 'react'
import { MODERATION_REASON_MAX } from '../../../contract/constants.ts'
import type { QueuedPost } from '../../../contract/moderation.ts'
import { Read } from '../../http/read.tsx'
import { useKept } from '../../platform/use-kept.ts'
import { Checkbox } from '../../ui/checkbox.tsx'
import { classes } from '../../ui/classes.ts'
import { TextField } from '../../ui/field.tsx'
import { AskFooter, Modal } from '../../ui/modal.tsx'
import { RadioGroup } from '../../ui/radio-group.tsx'
import { Loading } from '../../ui/spinner.tsx'
import styles from './block-dialog.module.css'
import { block, decide } from './decide.ts'
import { useQueue } from './queue.queries.ts'

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
  const queue = useQueue()
  // The post leaves the queue when it is decided, while the dialog still closes.
  const post = useKept(queue.data?.posts.find(({ id }) => id === postId))
  return (
    <Modal title="Заблокировать автора" size="s" onClose={onClose}>
      <Read query={queue} loading={<Loading label="Загружаем запись" />} inRow>
        {() =>
          post ? <BlockForm post={post} onClose={onClose} /> : <p>Об этой записи уже решили</p>
        }
      </Read>
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

  function submit(event: FormEvent): void {
    event.preventDefault()
    const why = reason.trim()
    const days = duration === FOR_GOOD ? null : Number(duration)
    if (why === '') return
    if (removes) decide(post, { verdict: 'remove', reason: why, block: { days } })
    else block(post, { reason: why, days })
    onClose()
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
      <p className={classes('soft', styles.tip)}>Все сессии автора завершатся</p>
      {mayRemove && (
        <Checkbox label="Удалить и эту запись" checked={removes} onChange={setRemoves} />
      )}
      <AskFooter type="submit" disabled={reason.trim() === ''} onClose={onClose}>
        Заблокировать
      </AskFooter>
    </form>
  )
}
