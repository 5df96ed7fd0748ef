import type { Change } from '../cache/cache.ts'

/**
 * What a change of posts means for those who read: the newest post and its author, and what was
 * answered: users by their ids, and each reply as `<post>:<reply>:<author>`.
 */
export type News = { newest: NewestPost | undefined; to: string[] }
export type NewestPost = { id: string; by: string | undefined }

/** An event names so many at most that were answered; past that it says «many». */
export const NAMED_MAX = 50

/** The change of publishing posts: the newest of the wall, or `-`, and what the replies answer. */
export function addedChange({ newest, to }: News): Change {
  // One more than is named shows that there are many: a notification of PostgreSQL has 8000 bytes.
  const named = [...new Set(to)].slice(0, NAMED_MAX + 1)
  return `posts added ${[newest ? `${newest.id}:${newest.by}` : '-', ...named].join(' ')}`
}

/** Reads the news out of a change; undefined where it has none. */
export function newsIn(change: Change): News | undefined {
  const [, how, newest, ...to] = change.split(' ')
  if (how !== 'added' || newest === undefined) return undefined
  const [id = '', by] = newest.split(':')
  return { newest: id === '-' ? undefined : { id, by }, to }
}
