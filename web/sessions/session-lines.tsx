import { MonitorSmartphone } from 'lucide-react'
import type { Session } from '../../contract/sessions.ts'
import { exactTime } from '../lib/time-ago.ts'
import { browserName, systemName } from './device-name.ts'
import styles from './sessions.module.css'

/** What there is to say of a session in a list: the browser, the system and when it began. */
export function SessionLines({ session }: { session: Session }) {
  const { device, createdAt } = session
  return (
    <>
      <MonitorSmartphone size={22} aria-hidden className={styles.icon} />
      <span className={styles.lines}>
        <span className={styles.name}>{browserName(device)}</span>
        <span className={styles.about}>
          {systemName(device)} ·{' '}
          <time dateTime={new Date(createdAt * 1000).toISOString()}>{exactTime(createdAt)}</time>
        </span>
      </span>
    </>
  )
}
