import { exactTime, timeAgo } from '../../format/time-ago.ts'
import { useNow } from './use-now.ts'

/** When a post was published, in words that stay true while the page is open; the exact date in its title. */
export function PostTime({ createdAt }: { createdAt: number }) {
  const ago = useNow((now) => timeAgo(createdAt, now))
  return (
    <time dateTime={new Date(createdAt * 1000).toISOString()} title={exactTime(createdAt)}>
      {ago}
    </time>
  )
}
