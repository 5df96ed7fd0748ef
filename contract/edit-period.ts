/** The part of a post that decides whether it may still be edited. Times in unix seconds. */
type Edited = { created_at: number }

/** Seconds left to edit a post at `now`; 0 once the period is over. */
export function editSecondsLeft(post: Edited, now: number, periodSeconds: number): number {
  return Math.max(0, Math.ceil(post.created_at + periodSeconds - now))
}

/** Whether a post may be edited at `now`. The server's SQL decides; this is the same rule for the countdown. */
export function canEdit(post: Edited, now: number, periodSeconds: number): boolean {
  return editSecondsLeft(post, now, periodSeconds) > 0
}
