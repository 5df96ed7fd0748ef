import { countdown } from '../../format/time.ts'
import { isUnanswered } from '../../http/call-error.ts'
import { reasonOf } from '../../http/error-message.ts'
import { useSecondsLeft } from '../../platform/use-seconds-left.ts'
import { Button } from '../../ui/button.tsx'
import styles from './post-form.module.css'
import type { Waiting } from './send-when-available.ts'

type WaitingLineProps = { waiting: Waiting; onStop: () => void }

export function WaitingLine({ waiting, onStop }: WaitingLineProps) {
  return (
    <p className={styles.waiting}>
      <WaitingReason {...waiting} />
      <Button size="s" onClick={onStop}>
        Не отправлять
      </Button>
    </p>
  )
}

function WaitingReason({ error, until }: Waiting) {
  const seconds = useSecondsLeft(until)
  if (isUnanswered(error)) return 'Сервер не отвечает. Текст сохранён, отправим сами'
  if (error.code === 'UNAVAILABLE')
    return 'Сервис пока недоступен. Текст сохранён: отправим его, как только сервис вернётся'
  return (
    <span>
      {/* A timer is not announced with each second. */}
      {reasonOf(error)}. Отправим через <span role="timer">{countdown(seconds)}</span>
    </span>
  )
}
