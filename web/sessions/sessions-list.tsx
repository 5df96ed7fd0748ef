import { ChevronRight } from 'lucide-react'
import type { Session } from '../../contract/sessions.ts'
import { openDialog } from '../lib/dialogs.ts'
import { errorMessage } from '../lib/error-message.ts'
import { Button } from '../ui/button.tsx'
import { ErrorRow } from '../ui/error-row.tsx'
import { Spinner } from '../ui/spinner.tsx'
import { SessionLines } from './session-lines.tsx'
import styles from './sessions.module.css'
import { useSessions } from './use-sessions.ts'

/** Where the viewer is signed in: this device, then the others, each of which can be looked at and closed. */
export function SessionsList() {
  const { data: sessions, error, refetch } = useSessions()
  if (!sessions) {
    return error ? (
      <ErrorRow text={errorMessage(error)} onRetry={refetch} />
    ) : (
      <div className={styles.loading}>
        <Spinner label="Загружаем устройства" />
      </div>
    )
  }
  const current = sessions.find((session) => session.current)
  return (
    <>
      {current && <CurrentSession session={current} />}
      <OtherSessions sessions={sessions.filter((session) => !session.current)} />
    </>
  )
}

function CurrentSession({ session }: { session: Session }) {
  return (
    <section className={styles.section} aria-labelledby="current-session">
      <h2 className={styles.heading} id="current-session">
        Текущая сессия
      </h2>
      <div className={styles.row}>
        <SessionLines session={session} />
      </div>
    </section>
  )
}

function OtherSessions({ sessions }: { sessions: Session[] }) {
  return (
    <section className={styles.section} aria-labelledby="other-sessions">
      <h2 className={styles.heading} id="other-sessions">
        Активные сессии
      </h2>
      {sessions.length === 0 && <p className={styles.empty}>На других устройствах входа нет</p>}
      <ul>
        {sessions.map((session) => (
          <li key={session.id}>
            <button
              type="button"
              className={styles.row}
              onClick={() => openDialog({ name: 'session', sessionId: session.id })}
            >
              <SessionLines session={session} />
              <ChevronRight size={18} aria-hidden className={styles.icon} />
            </button>
          </li>
        ))}
      </ul>
      {sessions.length > 0 && (
        <div className={styles.foot}>
          <Button onClick={() => openDialog({ name: 'close-other-sessions' })}>
            Завершить другие сессии
          </Button>
        </div>
      )}
    </section>
  )
}
