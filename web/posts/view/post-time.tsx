import { CLARIFY_SECONDS } from '../../../contract/constants.ts'
import { editSecondsLeft } from '../../../contract/post-rules.ts'
import { formatUtcDateTime } from '../../../contract/universal-time.ts'
import { formatDateTime, timeAgo, timeAgoInWords } from '../../format/time.ts'
import { clock } from '../../http/server-clock.ts'
import { useAtom, useHydrated } from '../../platform/atom.ts'
import { settings } from '../../platform/page-settings.ts'
import type { CachedPost } from '../cache/post-cache.ts'
import styles from './post-card.module.css'

/** Shows an age. Screen readers get words, because they misread «1 ч.». */
export function PostTime({ createdAt }: { createdAt: number }) {
  const ago = useNow((seconds) => timeAgo(createdAt, seconds))
  const words = useNow((seconds) => timeAgoInWords(createdAt, seconds))
  return (
    <>
      <time
        dateTime={new Date(createdAt * 1000).toISOString()}
        title={useDateTime(createdAt)}
        suppressHydrationWarning
        aria-hidden
      >
        {ago}
      </time>
      {/* Text browsers show both, so a space is between. */}
      <span className="visually-hidden">{` ${words}`}</span>
    </>
  )
}

type TimeLinkProps = {
  to: string
  className: string | undefined
  createdAt: number
  mark: string | undefined
}

/** Links to a post by its age. */
export function TimeLink({ to, className, createdAt, mark }: TimeLinkProps) {
  return (
    <a className={className} href={to}>
      <PostTime createdAt={createdAt} />
      {mark && <span className={styles.mark}> · {mark}</span>}
    </a>
  )
}

/** Returns what stands beside the time of an edited post. */
export const editedLabel = ({ is_modified }: CachedPost) => (is_modified ? ' · изменено' : '')

/**
 * Returns the universal time on the server, and the local time after hydration. During hydration
 * the element keeps the server's text, for which it needs `suppressHydrationWarning`.
 */
export function useDateTime(createdAt: number): string {
  if (useHydrated()) return formatDateTime(createdAt)
  return import.meta.env.SSR ? formatUtcDateTime(createdAt) : ''
}

export function useEditSeconds(post: Pick<CachedPost, 'created_at'>): number {
  return useNow((seconds) => editSecondsLeft(post, seconds, settings().editPeriodSeconds))
}

/** Returns the seconds until the clarification of a post may be replaced. */
export function useClarifySeconds({ clarification }: CachedPost): number {
  const last = clarification ?? { created_at: 0 }
  return useNow((seconds) => editSecondsLeft(last, seconds, CLARIFY_SECONDS))
}

/** Returns `read` of the server's time. The component renders only when the result changes. */
function useNow<T extends string | number>(read: (now: number) => T): T {
  return useAtom({ get: () => read(clock.get()), subscribe: clock.subscribe })
}
