/** When a post was published, in unix seconds. */
type Published = { created_at: number }

/** Returns the seconds left to edit a post at `now` (unix seconds), 0 after the period. */
export function editSecondsLeft(post: Published, now: number, periodSeconds: number): number {
  return Math.max(0, Math.ceil(post.created_at + periodSeconds - now))
}

/** Whether a post may be edited at `now` (unix seconds). The server applies the same rule in SQL. */
export function canEdit(post: Published, now: number, periodSeconds: number): boolean {
  return editSecondsLeft(post, now, periodSeconds) > 0
}
