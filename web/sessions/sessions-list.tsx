import type { Session } from '../../contract/sessions.ts'
import { errorMessage } from '../api/error-message.ts'
import { Button } from '../ui/button.tsx'
import { ErrorRow } from '../ui/errors.tsx'
import { rowClass } from '../ui/row.tsx'
import { Section } from '../ui/section.tsx'
import { Loading } from '../ui/spinner.tsx'
import { openDialog } from '../viewer/dialogs.ts'
import styles from './sessions.module.css'
import { SessionRow, useSessions } from './sessions.tsx'

/** Where the viewer is signed in: this device, then the others, each with a dialog that shows and closes it. */
export function SessionsList() {
  const { data: sessions, error, refetch } = useSessions()
  if (!sessions) {
    return error ? (
      <ErrorRow text={errorMessage(error)} onRetry={refetch} />
    ) : (
      <Loading label="Загружаем устройства" />
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
    <Section title="Текущая сессия">
      <div className={rowClass}>
        <SessionRow session={session} />
      </div>
    </Section>
  )
}

function OtherSessions({ sessions }: { sessions: Session[] }) {
  return (
    <Section title="Другие сессии">
      {sessions.length === 0 && <p className={styles.empty}>Других сессий нет</p>}
      <ul>
        {sessions.map((session) => (
          <li key={session.id}>
            <button
              type="button"
              className={rowClass}
              onClick={() => openDialog({ name: 'session', sessionId: session.id })}
            >
              <SessionRow session={session} leadsOn />
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
    </Section>
  )
}
