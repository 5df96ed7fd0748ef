import { pageAfter } from '../../contract/pages.ts'
import type { PostPage } from '../../contract/posts.ts'
import { call } from '../http/call.ts'
import { CallError } from '../http/call-error.ts'
import type { ListSource, Newer } from '../posts/cache/use-post-list.ts'

const NONE: PostPage = { posts: [], firstPage: 1, lastPage: 1, total: 0, nextCursor: null }

/** The direct replies to a post, newest first. A missing post has none. */
export function repliesSource(postId: string, start = ''): ListSource {
  return {
    name: `replies ${postId}`,
    start,
    newer: start === '' ? newerReplies(postId) : undefined,
    read: (cursor, signal) =>
      noneWhenMissing(
        call(
          'GET /posts/:id/replies',
          { params: { id: postId }, query: pageAfter(cursor) },
          { signal },
        ),
      ),
  }
}

function newerReplies(postId: string): Newer {
  const prefix = `${postId}:`
  return {
    show: 'Показать новые ответы',
    toTop: 'К новым ответам',
    idsIn: ({ to = [] }) => {
      if (to === 'many') return null
      return to.filter((it) => it.startsWith(prefix)).map((it) => it.slice(prefix.length))
    },
  }
}

export const ownRepliesSource: ListSource = {
  name: 'own-replies',
  read: (cursor, signal) =>
    noneWhenMissing(call('GET /posts/replies', { query: pageAfter(cursor) }, { signal })),
}

async function noneWhenMissing(page: Promise<PostPage>): Promise<PostPage> {
  try {
    return await page
  } catch (error) {
    if (error instanceof CallError && error.status === 404) return NONE
    throw error
  }
}
