import { editSecondsLeft } from '../../../contract/post-rules.ts'
import { exactTime, timeAgo, universalTime } from '../../format/time.ts'
import { useAtom } from '../../platform/atom.ts'
import { useHydrated } from '../../platform/hydrated.ts'
import { settings } from '../../session/page-settings.ts'
import { clock } from '../../session/server-clock.ts'
import type { CachedPost } from '../cache/post-cache.ts'

export function PostTime({ createdAt }: { createdAt: number }) {
  const ago = useNow((seconds) => timeAgo(createdAt, seconds))
  return (
    <time dateTime={new Date(createdAt * 1000).toISOString()} title={useExactTime(createdAt)}>
      {ago}
    </time>
  )
}

export function useExactTime(createdAt: number): string {
  return useHydrated() ? exactTime(createdAt) : universalTime(createdAt)
}

export function useEditSeconds(post: Pick<CachedPost, 'created_at'>): number {
  return useNow((seconds) => editSecondsLeft(post, seconds, settings().editPeriodSeconds))
}

/** `read` gets the server's time. The component renders only when its result changes. */
function useNow<T extends string | number>(read: (now: number) => T): T {
  const get = () => read(clock.get())
  return useAtom({ get, subscribe: clock.subscribe }, get())
}
