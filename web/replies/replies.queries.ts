import { useQuery } from '@tanstack/react-query'
import { ANCESTORS_MAX, ANCESTORS_SHOWN } from '../../contract/constants.ts'
import { pageAfter } from '../../contract/pages.ts'
import { hasMoreAncestors } from '../../contract/post-rules.ts'
import type { Ancestors } from '../../contract/replies.ts'
import { NO_POSTS } from '../../contract/search-rules.ts'
import { call } from '../http/call.ts'
import { fallBackOn } from '../http/call-error.ts'
import { queryClient } from '../http/query-client.ts'
import { LISTS } from '../posts/cache/list-cache.ts'
import { type CachedPost, nextVersion, putPosts } from '../posts/cache/post-cache.ts'
import { type ListSource, type Newer, readListAhead } from '../posts/cache/use-post-list.ts'

/** Returns the source of the direct replies to a post. A missing post has none. */
export function repliesSource(postId: string, start = ''): ListSource {
  return {
    name: `replies ${postId}`,
    start,
    newer: newerReplies(postId),
    read: (cursor, signal) => {
      const parts = { params: { id: postId }, query: pageAfter(cursor) }
      return fallBackOn(404, call('GET /posts/:id/replies', parts, { signal }), NO_POSTS)
    },
  }
}

/** Reads the first replies to a post that will probably be opened soon. */
export function readRepliesAhead(postId: string): void {
  readListAhead(repliesSource(postId))
}

function newerReplies(postId: string): Newer {
  return {
    show: 'Показать новые ответы',
    toTop: 'К новым ответам',
    namedIn: ({ to = [] }) => {
      if (to === 'many') return null
      const replies = to.map((it) => it.split(':'))
      return replies.flatMap(([to, id, by]) => (to === postId && id ? [{ id, by }] : []))
    },
  }
}

/** `ids` are shown, oldest first; `folded` counts the posts above them that are not. */
type ShownAncestors = { ids: string[]; folded: number }

/** Returns a key below that of the replies, so that both are kept and read again together. */
function ancestorsKey(postId: string) {
  return [LISTS, repliesSource(postId).name, 'ancestors'] as const
}

export function seedAncestors(postId: string, answer: Ancestors): void {
  queryClient.setQueryData(ancestorsKey(postId), shownAncestors(answer))
}

/** Returns the ancestors to show, including deleted posts, which are shown as placeholders. */
function shownAncestors({ posts, total }: Ancestors, version?: number): ShownAncestors {
  putPosts(posts, version)
  const ids = posts.flatMap(({ id, actions: { replied_post, replied_post_id } }) =>
    replied_post_id && !replied_post ? [replied_post_id, id] : [id],
  )
  return { ids, folded: total - posts.length }
}

export function useAncestors(post: CachedPost) {
  const queryKey = ancestorsKey(post.id)

  async function read(limit: number, signal?: AbortSignal): Promise<ShownAncestors> {
    const version = nextVersion()
    const parts = { params: { id: post.id }, query: { limit } }
    const answer = await call('GET /posts/:id/ancestors', parts, { signal })
    return shownAncestors(answer, version)
  }

  const { data } = useQuery({
    queryKey,
    queryFn: ({ signal }) => {
      const isUnfolded = queryClient.getQueryData<ShownAncestors>(queryKey)?.folded === 0
      return read(isUnfolded ? ANCESTORS_MAX : ANCESTORS_SHOWN, signal)
    },
    enabled: hasMoreAncestors(post),
  })
  const { ids = [], folded = 0 } = data ?? {}
  const { parent_post_id: startId, replied_post_id: repliedId } = post.actions
  // The replied post came with its reply, so it shows before the others are read.
  const shown = repliedId === null || ids.at(-1) === repliedId ? ids : [...ids, repliedId]
  return {
    ids: shown,
    folded,
    readAll: async () => void queryClient.setQueryData(queryKey, await read(ANCESTORS_MAX)),
    /** The start of the thread, if it is not shown. */
    startId: shown.includes(startId ?? '') ? null : startId,
  }
}
