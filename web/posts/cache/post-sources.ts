import { PAGE_SIZE } from '../../../contract/constants.ts'
import { call } from '../../api/call.ts'
import type { ListSource } from './use-post-list.ts'

/** The wall: all posts that are not replies, newest first. It begins after the cursor `start`, or with the newest. */
export function wallSource(start: string | null = null): ListSource {
  return {
    name: 'wall',
    start,
    read: (cursor, signal) => call('GET /posts', { query: pageAfter(cursor) }, { signal }),
  }
}

/** What the viewer liked, by the time of the like. */
export const likedSource: ListSource = {
  name: 'liked',
  read: (cursor, signal) =>
    call('GET /posts', { query: { ...pageAfter(cursor), filter: 'liked' } }, { signal }),
}

/** The posts of one user. */
export function ownPostsSource(userId: string): ListSource {
  return {
    name: 'own-posts',
    read: (cursor, signal) =>
      call('GET /posts', { query: { ...pageAfter(cursor), userId } }, { signal }),
  }
}

/** The query of a page after `cursor`, or of the first one. */
export function pageAfter(cursor: string | null): { limit: number; cursor?: string } {
  return cursor === null ? { limit: PAGE_SIZE } : { limit: PAGE_SIZE, cursor }
}
