import { MonitorSmartphone } from 'lucide-react'
import type { Session } from '../../contract/sessions.ts'
import { Row } from '../ui/row.tsx'
import { browserName, systemName } from './device-name.ts'
import { SessionTime } from './session-time.tsx'

/** What there is to say of a session in a list: the browser, the system and when it began. */
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
