import { MonitorSmartphone } from 'lucide-react'
import type { Device } from '../../contract/fields.ts'
import type { Session } from '../../contract/sessions.ts'
import { exactTime } from '../format/time-ago.ts'
import { Row } from '../ui/row.tsx'

/** A session in a list: its browser, its system and when it began. */
export function SessionRow({ session, leadsOn = false }: { session: Session; leadsOn?: boolean }) {
  return (
    <Row
      icon={<MonitorSmartphone size={22} aria-hidden />}
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
  return <time dateTime={new Date(createdAt * 1000).toISOString()}>{exactTime(createdAt)}</time>
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
