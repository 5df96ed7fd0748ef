import { pageAfter } from '../../../contract/pages.ts'
import { call } from '../../http/call.ts'
import type { ListSource } from './use-post-list.ts'

export function wallSource(start = ''): ListSource {
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
