import { PAGE_SIZE } from '../../../contract/constants.ts'
import { call } from '../../http/call.ts'
import type { ListSource } from './use-post-list.ts'

export function wallSource(start: string | null = null): ListSource {
  return {
    name: 'wall',
    start,
    read: (cursor, signal) => call('GET /posts', { query: pageAfter(cursor) }, { signal }),
  }
}

export const likedSource: ListSource = {
  name: 'liked',
  read: (cursor, signal) =>
    call('GET /posts', { query: { ...pageAfter(cursor), filter: 'liked' } }, { signal }),
}

export function ownPostsSource(userId: string): ListSource {
  return {
    name: 'own-posts',
    read: (cursor, signal) =>
      call('GET /posts', { query: { ...pageAfter(cursor), userId } }, { signal }),
  }
}

export function pageAfter(cursor: string | null): { limit: number; cursor?: string } {
  return cursor === null ? { limit: PAGE_SIZE } : { limit: PAGE_SIZE, cursor }
}
