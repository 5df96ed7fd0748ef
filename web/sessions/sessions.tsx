import { Monitor, Smartphone } from 'lucide'
import { SESSIONS_MAX } from '../../contract/constants.ts'
import type { Device } from '../../contract/fields.ts'
import type { Session } from '../../contract/sessions.ts'
import { formatDateTime } from '../format/time.ts'
import { openDialog } from '../history/history.ts'
import { Read } from '../http/read.tsx'
import { serverNow } from '../http/server-clock.ts'
import { Button } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { Row, rowClass, Section } from '../ui/row.tsx'
import { Loading } from '../ui/states/spinner.tsx'
import styles from './sessions.module.css'
import { useSessions } from './sessions.queries.ts'

const time = new Intl.DateTimeFormat('ru', { timeStyle: 'short' })

function SessionRow({ session }: { session: Session }) {
  return (
    <Row
      icon={<Icon shape={isPhone(session.device) ? Smartphone : Monitor} size={22} />}
      name={browserName(session.device)}
      about={
        <>
          {systemName(session.device)} · <SessionTime session={session} />
        </>
      }
      withChevron={!session.current}
    />
  )
}

export function SessionTime({ session: { createdAt } }: { session: Session }) {
  return (
    <time dateTime={new Date(createdAt * 1000).toISOString()} title={formatDateTime(createdAt)}>
      {formatRecentDateTime(createdAt, serverNow())}
    </time>
  )
}

/**
 * Returns 'сегодня в 17:49', 'вчера в 9:05', and the full date for anything earlier. `seconds` and
 * `now` are unix seconds; the day is that of the browser's time zone.
 */
export function formatRecentDateTime(seconds: number, now: number): string {
  const then = new Date(seconds * 1000)
  const today = new Date(now * 1000)
  const yesterday = new Date(today.getFullYear(), today.getMonth(), today.getDate() - 1)
  if (then.toDateString() === today.toDateString()) return `сегодня в ${time.format(then)}`
  if (then.toDateString() === yesterday.toDateString()) return `вчера в ${time.format(then)}`
  return formatDateTime(seconds, now * 1000)
}

export function browserName({ userAgent, userAgentVersion }: Device): string {
  const major = userAgentVersion.split('.')[0]
  return [userAgent || 'Неизвестный браузер', major].filter(Boolean).join(' ')
}

export function systemName({ os }: Device): string {
  return os || 'Неизвестная система'
}

/** Returns whether the system is a phone's. An unknown system counts as a computer. */
export function isPhone({ os }: Device): boolean {
  return /^(android|ios|harmony|windows phone)/i.test(os)
}

export function SessionsList() {
  return (
    <Read query={useSessions()} loading={<Loading label="Загружаем устройства" />} inRow>
      {(sessions) => <Sessions sessions={sessions} />}
    </Read>
  )
}

function Sessions({ sessions }: { sessions: Session[] }) {
  const current = sessions.find((session) => session.current)
  return (
    <>
      {current && (
        <Section title="Текущая сессия">
          <div className={rowClass}>
            <SessionRow session={current} />
          </div>
        </Section>
      )}
      {sessions.length >= SESSIONS_MAX && (
        <p className={styles.empty}>
          Сессий может быть не больше {SESSIONS_MAX}: следующий вход завершит самую старую
        </p>
      )}
      <OtherSessions sessions={sessions.filter((session) => !session.current)} />
    </>
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
              <SessionRow session={session} />
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
