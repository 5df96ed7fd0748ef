import type { ComponentType, FormEvent } from 'react'
import { MODERATION_REASON_MAX, RECENT_POSTS_MAX } from '../../../contract/constants.ts'
import type { QueuedPost } from '../../../contract/moderation.ts'
import { Read } from '../../http/read.tsx'
import { useReportReasons } from '../../posts/cache/moderated.queries.ts'
import { SessionEnded, useTyped } from '../../session/session-ended.tsx'
import { useSessionEnd } from '../../session/viewer.ts'
import { classes } from '../../ui/classes.ts'
import { Checkbox } from '../../ui/form/checkbox.tsx'
import { TextField } from '../../ui/form/field.tsx'
import { RadioGroup } from '../../ui/form/radio-group.tsx'
import { AskFooter, Modal } from '../../ui/overlay/modal.tsx'
import { Loading } from '../../ui/states/spinner.tsx'
import { authorFacts } from './author-block.tsx'
import { block, decide } from './decide.ts'
import styles from './queue.module.css'
import { isRecentOf, mayRemove, useModeratedPost } from './queue.queries.ts'

const FOR_GOOD = 'for good'
const DURATIONS = [
  { value: '1', label: 'На день' },
  { value: '7', label: 'На неделю' },
  { value: '30', label: 'На месяц' },
  { value: FOR_GOOD, label: 'Навсегда' },
]

type DialogProps = { postId: string; onClose: () => void }

/** Removes a post on the wall as a moderator, whether it was reported or not. */
export function RemoveDialog(props: DialogProps) {
  return <ModeratorDialog {...props} title="Удалить как модератор" Form={RemoveForm} />
}

/** Blocks the author, and can also remove the post. Opens in the queue and on the wall. */
export function BlockDialog(props: DialogProps) {
  return <ModeratorDialog {...props} title="Заблокировать автора" Form={BlockForm} />
}

type FormProps = { post: QueuedPost; onClose: () => void }
type ModeratorDialogProps = DialogProps & { title: string; Form: ComponentType<FormProps> }

function ModeratorDialog({ postId, onClose, title, Form }: ModeratorDialogProps) {
  return (
    <Modal title={title} onClose={onClose}>
      <Read query={useModeratedPost(postId)} loading={<Loading label="Загружаем запись" />} inRow>
        {(post) => (
          <>
            <p className={classes('soft', styles.who)}>
              {post.author.username}: {authorFacts(post.author)}
            </p>
            <Form post={post} onClose={onClose} />
          </>
        )}
      </Read>
    </Modal>
  )
}

function RemoveForm({ post, onClose }: FormProps) {
  const [reason, setReason, keep] = useTyped(`remove ${post.id}`, post.reasons[0]?.name ?? '')
  const hasEnded = useSessionEnd() !== undefined

  function remove(): void {
    decide(post, { verdict: 'remove', reason }, keep)
    onClose()
  }

  return (
    <>
      <Read query={useReportReasons()} loading={<Loading label="Загружаем список причин" />} inRow>
        {({ reasons }) => (
          <RadioGroup
            legend="Причина, её увидит автор"
            options={reasons.map(({ name }) => ({ value: name, label: name }))}
            value={reason}
            onChange={setReason}
          />
        )}
      </Read>
      <SessionEnded reopen={{ name: 'remove-post', postId: post.id }} />
      <AskFooter disabled={hasEnded || reason === ''} onConfirm={remove} onClose={onClose}>
        Удалить
      </AskFooter>
    </>
  )
}

function firstReason({ author, reasons, appeal }: QueuedPost): string {
  return author.block?.reason ?? reasons[0]?.name ?? appeal?.removedFor ?? ''
}

function recentLabel(recent: number): string {
  return recent < RECENT_POSTS_MAX
    ? `Удалить все его записи за\u00a0сутки (${recent})`
    : `Удалить последние ${RECENT_POSTS_MAX} его записей за\u00a0сутки`
}

function BlockForm({ post, onClose }: FormProps) {
  const [duration, setDuration, keepDuration] = useTyped(`block ${post.id} duration`, '7')
  const [reason, setReason, keepReason] = useTyped(`block ${post.id}`, firstReason(post))
  const hasEnded = useSessionEnd() !== undefined
  const removal = useRemoval(post)

  function submit(event: FormEvent): void {
    event.preventDefault()
    const why = reason.trim()
    const days = duration === FOR_GOOD ? null : Number(duration)
    const newBlock = { days, ...(removal.removesRecent && { removesRecent: true as const }) }
    if (removal.removesThis) decide(post, { verdict: 'remove', reason: why, block: newBlock }, keep)
    else block(post, { reason: why, ...newBlock }, keep)
    onClose()
  }

  function keep(): void {
    keepDuration()
    keepReason()
    removal.keep()
  }

  return (
    <form onSubmit={submit}>
      <RadioGroup
        legend="Автор не сможет писать, но сможет читать"
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
      {mayRemove(post) && (
        <Checkbox
          label="Удалить и эту запись"
          checked={removal.removesThis}
          onChange={removal.changeThis}
        />
      )}
      {removal.hasOthers && (
        <Checkbox
          label={recentLabel(post.author.recent)}
          checked={removal.removesRecent}
          onChange={removal.changeRecent}
        />
      )}
      <SessionEnded text={reason} reopen={{ name: 'block-author', postId: post.id }} />
      <AskFooter type="submit" disabled={hasEnded || reason.trim() === ''} onClose={onClose}>
        Заблокировать
      </AskFooter>
    </form>
  )
}

/** Returns which posts are removed with the block: this one, all of the last day, or both. */
function useRemoval(post: QueuedPost) {
  const isRecent = isRecentOf(post, post.author.id)
  const [removes, setRemoves, keepThis] = useTypedFlag(`block ${post.id} this`, mayRemove(post))
  const [removesRecent, setRemovesRecent, keepRecent] = useTypedFlag(`block ${post.id} day`, false)
  return {
    /** Whether the author has posts of the last day besides this one. */
    hasOthers: post.author.recent > (isRecent ? 1 : 0),
    removesThis: removes || (removesRecent && isRecent),
    removesRecent,
    changeThis(isWanted: boolean): void {
      setRemoves(isWanted)
      if (isRecent && !isWanted) setRemovesRecent(false)
    },
    changeRecent: setRemovesRecent,
    keep(): void {
      keepThis()
      keepRecent()
    },
  }
}

function useTypedFlag(name: string, initial: boolean) {
  const [flag, setFlag, keep] = useTyped(name, String(initial))
  return [flag === 'true', (isSet: boolean) => setFlag(String(isSet)), keep] as const
}
