import { type QueryClient, useQuery } from '@tanstack/react-query'
import { Monitor, Smartphone } from 'lucide-react'
import type { Device } from '../../contract/fields.ts'
import type { Session } from '../../contract/sessions.ts'
import { call } from '../api/call.ts'
import { serverNow } from '../api/server-clock.ts'
import { exactTime } from '../format/time.ts'
import { Row } from '../ui/row.tsx'

const time = new Intl.DateTimeFormat('ru', { timeStyle: 'short' })

/** A session in a list: a phone or a computer, its browser, its system and when it began. */
export function SessionRow({ session, leadsOn = false }: { session: Session; leadsOn?: boolean }) {
  const Icon = isPhone(session.device) ? Smartphone : Monitor
  return (
    <Row
      icon={<Icon size={22} aria-hidden />}
      name={browserName(session.device)}
      about={
        <>
          {systemName(session.device)} · <SessionTime session={session} />
        </>
      }
      leadsOn={leadsOn}
    />
  )
}

/** When a session began. */
export function SessionTime({ session: { createdAt } }: { session: Session }) {
  return (
    <time dateTime={new Date(createdAt * 1000).toISOString()} title={exactTime(createdAt)}>
      {dayAndTime(createdAt, serverNow())}
    </time>
  )
}

/**
 * When something happened, as people say it: 'сегодня в 17:49', 'вчера в 9:05', and the full date for anything earlier.
 * `seconds` and `now` are unix seconds; the day is that of the browser's time zone.
 */
export function dayAndTime(seconds: number, now: number): string {
  const then = new Date(seconds * 1000)
  const today = new Date(now * 1000)
  const yesterday = new Date(today.getFullYear(), today.getMonth(), today.getDate() - 1)
  if (then.toDateString() === today.toDateString()) return `сегодня в ${time.format(then)}`
  if (then.toDateString() === yesterday.toDateString()) return `вчера в ${time.format(then)}`
  return exactTime(seconds)
}

/** The browser of a device with its major version, or words for an unknown one. */
export function browserName({ userAgent, userAgentVersion }: Device): string {
  const major = userAgentVersion.split('.')[0]
  return [userAgent || 'Неизвестный браузер', major].filter(Boolean).join(' ')
}

/** The operating system of a device, or words for an unknown one. */
export function systemName({ os }: Device): string {
  return os || 'Неизвестная система'
}

/** Whether a device is a phone or a tablet, by its system; an unknown one counts as a computer. */
export function isPhone({ os }: Device): boolean {
  return /^(android|ios|harmony|windows phone)/i.test(os)
}

const SESSIONS = ['sessions']

/** The viewer's live sessions, read again on every visit of the page, because other devices change them. */
export function useSessions() {
  return useQuery({
    queryKey: SESSIONS,
    queryFn: async ({ signal }) => (await call('GET /sessions', {}, { signal })).sessions,
    staleTime: 0,
  })
}

/** Leaves only the sessions that `isOpen` is true for in the list, before it is read again. */
export function keepSessions(client: QueryClient, isOpen: (session: Session) => boolean): void {
  client.setQueryData<Session[]>(SESSIONS, (sessions) => sessions?.filter(isOpen))
}
