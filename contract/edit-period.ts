/** When a post was published, in unix seconds. */
type Published = { created_at: number }

/** Returns the seconds left to edit a post at `now` (unix seconds), 0 after the period. The server applies the same rule in SQL. */
export function editSecondsLeft(post: Published, now: number, periodSeconds: number): number {
  return Math.max(0, Math.ceil(post.created_at + periodSeconds - now))
}
