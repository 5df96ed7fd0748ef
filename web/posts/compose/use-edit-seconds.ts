import { editSecondsLeft } from '../../../contract/edit-period.ts'
import { settings } from '../../browser/page-settings.ts'
import type { CachedPost } from '../cache/post-cache.ts'
import { useNow } from '../view/use-now.ts'

/** Seconds left to edit the post, counting down by the server's clock; 0 once the period is over. */
export function useEditSeconds(post: Pick<CachedPost, 'created_at'>): number {
  return useNow((now) => editSecondsLeft(post, now, settings().editPeriodSeconds))
}

/** A countdown as minutes and seconds: 125 → '2:05'. */
export function countdown(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
