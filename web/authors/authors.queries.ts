import { useQuery } from '@tanstack/react-query'
import type { Profile } from '../../contract/account.ts'
import { authorPath, pageAfter, pageAt } from '../../contract/pages.ts'
import { NO_POSTS } from '../../contract/search-rules.ts'
import { leave } from '../history/history.ts'
import { call } from '../http/call.ts'
import { fallBackOn } from '../http/call-error.ts'
import { authorKey } from '../posts/cache/posts.queries.ts'
import type { ListSource } from '../posts/cache/use-post-list.ts'

/** Reads an author, who is null if there is no such name. Redirects to the current name. */
export function useAuthor(username: string) {
  return useQuery({
    queryKey: authorKey(username),
    queryFn: async ({ signal }): Promise<Profile | null> => {
      const read = call('GET /profiles/:username', { params: { username } }, { signal })
      const author = await fallBackOn(404, read, null)
      if (author && author.username !== username) showPresentName(username, author.username)
      return author
    },
    meta: { outlivesViewer: true },
  })
}

/** Redirects a former name, or another spelling, to the current name. */
function showPresentName(asked: string, username: string): void {
  const page = pageAt(location.pathname)
  if (page && 'username' in page && page.username === asked) {
    leave(location.pathname, authorPath(username, page.name))
  }
}

export function postsOfSource(userId: string, start = ''): ListSource {
  return {
    name: `author ${userId}`,
    start,
    read: (cursor, signal) =>
      call('GET /posts', { query: { ...pageAfter(cursor), userId } }, { signal }),
  }
}

export function repliesOfSource(userId: string, start = ''): ListSource {
  return {
    name: `authorReplies ${userId}`,
    start,
    read: (cursor, signal) => {
      const query = { ...pageAfter(cursor), userId }
      return fallBackOn(404, call('GET /posts/replies', { query }, { signal }), NO_POSTS)
    },
  }
}
