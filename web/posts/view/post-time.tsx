import { editSecondsLeft } from '../../../contract/post-rules.ts'
import { clock } from '../../api/server-clock.ts'
import { useAtom } from '../../browser/atom.ts'
import { useHydrated } from '../../browser/hydrated.ts'
import { settings } from '../../browser/page-settings.ts'
import { exactTime, timeAgo, universalTime } from '../../format/time.ts'
import type { CachedPost } from '../cache/post-cache.ts'

/** How long ago a post was published, in words that stay true while the page is open; the exact date is its title. */
export function PostTime({ createdAt }: { createdAt: number }) {
  const ago = useNow((seconds) => timeAgo(createdAt, seconds))
  return (
    <time dateTime={new Date(createdAt * 1000).toISOString()} title={useExactTime(createdAt)}>
      {ago}
    </time>
  )
}

/** The date and time of a post: in the reader's time zone as soon as it is known. */
export function useExactTime(createdAt: number): string {
  return useHydrated() ? exactTime(createdAt) : universalTime(createdAt)
}

/** Seconds left to edit the post, counted down by the server's clock; 0 once the period is over. */
export function useEditSeconds(post: Pick<CachedPost, 'created_at'>): number {
  return useNow((seconds) => editSecondsLeft(post, seconds, settings().editPeriodSeconds))
}

/**
 * What `read` returns for the server's time in unix seconds, computed again every second while the component is shown.
 * The component renders again only when that has changed.
 */
function useNow<T extends string | number>(read: (now: number) => T): T {
  const get = () => read(clock.get())
  return useAtom({ get, subscribe: clock.subscribe }, get())
}
