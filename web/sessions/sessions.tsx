import { type QueryClient, useQuery } from '@tanstack/react-query'
import { Monitor, Smartphone } from 'lucide-react'
import type { Device } from '../../contract/fields.ts'
import type { Session } from '../../contract/sessions.ts'
import { call } from '../api/call.ts'
import { serverNow } from '../api/server-clock.ts'
import { exactTime } from '../format/time-ago.ts'
import { Row } from '../ui/row.tsx'
import { dayAndTime } from './session-time.ts'

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
