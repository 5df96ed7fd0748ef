import type { Session } from '../../contract/sessions.ts'
import { exactTime } from '../format/time-ago.ts'

/** When a session began. */
export function SessionTime({ session: { createdAt } }: { session: Session }) {
  return <time dateTime={new Date(createdAt * 1000).toISOString()}>{exactTime(createdAt)}</time>
}
