import { countdown } from '../../format/time.ts'
import { openDialog } from '../../history/history.ts'
import { type CallError, isShortLimit, isUnanswered } from '../../http/call-error.ts'
import { reasonOf } from '../../http/error-message.ts'
import { useOnline } from '../../platform/online.ts'
import { useSecondsLeft } from '../../platform/use-seconds-left.ts'
import { useSessionEnd, useViewer } from '../../session/viewer.ts'
import { Button } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { liveRegion } from '../../ui/live-region.ts'
import { bringIntoView } from '../../ui/states/errors.tsx'
import styles from './post-form.module.css'
import type { Text } from './stored-texts.ts'
import { errorOf } from './text-failures.ts'
import { isUnsaved } from './texts.ts'

export const UNSAVED = 'Браузеру негде сохранить текст. Он здесь, пока открыта эта страница'

type WaitingLineProps = { text: Text | undefined; onStop: () => void }

/** Shows why a text waits. Shows nothing during the first attempt. */
export function WaitingLine({ text, onStop }: WaitingLineProps) {
  const isSignedOut = useViewer().state === 'signed-out'
  const waiting = isSignedOut || text?.state !== 'sending' ? text : undefined
  return (
    <div {...liveRegion(waiting !== undefined)}>
      {waiting && <Line text={waiting} isSignedOut={isSignedOut} onStop={onStop} />}
    </div>
  )
}

type LineProps = { text: Text; isSignedOut: boolean; onStop: () => void }

function Line({ text, isSignedOut, onStop }: LineProps) {
  const end = useSessionEnd()
  return (
    <p ref={bringIntoView} className={classes('soft spread', styles.waiting)}>
      <span>
        <WaitingReason text={text} isSignedOut={isSignedOut} end={end} />
        {isUnsaved(text) && `. ${UNSAVED}`}
      </span>
      <span className={classes('line', styles.acts)}>
        {isSignedOut && (
          <Button variant="strong" size="s" onClick={() => openDialog({ name: 'sign-in' })}>
            Войти
          </Button>
        )}
        <Button size="s" onClick={onStop}>
          Не отправлять
        </Button>
      </span>
    </p>
  )
}

type WaitingReasonProps = { text: Text; isSignedOut: boolean; end: CallError | undefined }

function WaitingReason({ text, isSignedOut, end }: WaitingReasonProps) {
  const error = errorOf(text)
  const isOnline = useOnline()
  const isSaved = !isUnsaved(text)
  // Signing in loads the page again.
  const later = isSaved ? '. Отправим, когда вы войдёте' : ''
  if (!isOnline) return 'Нет связи. Отправим, когда она вернётся'
  if (end?.code === 'SESSION_CLOSED') return end.message + later
  if (isSignedOut || error.status === 401) return `Сессия завершена${later}`
  if (isUnanswered(error)) {
    return `Сервер не отвечает. ${isSaved ? 'Текст сохранён, отправим сами' : 'Отправим сами'}`
  }
  if (!isShortLimit(error)) {
    return `Сервис пока недоступен. ${isSaved ? 'Текст сохранён: отправим' : 'Отправим'} его, как только сервис вернётся`
  }
  return (
    <>
      {reasonOf(error)}. Отправим через <SecondsLeft until={text.until} />
    </>
  )
}

/** Shows a countdown. Its role `timer` keeps screen readers from announcing every second. */
export function SecondsLeft({ until }: { until: number }) {
  return <span role="timer">{countdown(useSecondsLeft(until))}</span>
}
