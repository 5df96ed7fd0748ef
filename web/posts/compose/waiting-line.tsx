import { countdown } from '../../format/time.ts'
import { openDialog } from '../../history/history.ts'
import { type CallError, isShortLimit, isUnanswered } from '../../http/call-error.ts'
import { reasonOf } from '../../http/error-message.ts'
import { useOnline } from '../../platform/online.ts'
import { useSecondsLeft } from '../../platform/use-seconds-left.ts'
import { useSessionEnd, useViewer } from '../../session/viewer.ts'
import { Button } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { bringIntoView } from '../../ui/states/errors.tsx'
import styles from './post-form.module.css'
import { errorOf, type Outgoing } from './text-outbox.ts'

type WaitingLineProps = { outgoing: Outgoing; onStop: (outgoing: Outgoing) => void }

/** Shows why a text waits. Shows nothing during the first attempt. */
export function WaitingLine({ outgoing, onStop }: WaitingLineProps) {
  const end = useSessionEnd()
  const isSignedOut = useViewer().state === 'signed-out'
  if (!isSignedOut && !outgoing.failure) return null
  return (
    <p ref={bringIntoView} className={classes('soft spread', styles.waiting)}>
      <WaitingReason outgoing={outgoing} isSignedOut={isSignedOut} end={end} />
      <span className={classes('line', styles.acts)}>
        {isSignedOut && (
          <Button variant="strong" size="s" onClick={() => openDialog({ name: 'sign-in' })}>
            Войти
          </Button>
        )}
        <Button size="s" onClick={() => onStop(outgoing)}>
          Не отправлять
        </Button>
      </span>
    </p>
  )
}

type WaitingReasonProps = { outgoing: Outgoing; isSignedOut: boolean; end: CallError | undefined }

function WaitingReason({ outgoing, isSignedOut, end }: WaitingReasonProps) {
  const error = errorOf(outgoing)
  const isOnline = useOnline()
  if (!isOnline) return 'Нет связи. Отправим, когда она вернётся'
  if (end?.code === 'SESSION_CLOSED') return `${end.message}. Отправим, когда вы войдёте`
  if (isSignedOut || error.status === 401) return 'Сессия завершена. Отправим, когда вы войдёте'
  if (isUnanswered(error)) return 'Сервер не отвечает. Текст сохранён, отправим сами'
  if (!isShortLimit(error))
    return 'Сервис пока недоступен. Текст сохранён: отправим его, как только сервис вернётся'
  return (
    <span>
      {reasonOf(error)}. Отправим через <SecondsLeft until={outgoing.until} />
    </span>
  )
}

/** Shows a countdown. Its role `timer` keeps screen readers from announcing every second. */
export function SecondsLeft({ until }: { until: number }) {
  return <span role="timer">{countdown(useSecondsLeft(until))}</span>
}
