import { type QueryClient, useQuery } from '@tanstack/react-query'
import type { Answer, Input } from '../../../contract/endpoint.ts'
import type { Block, blockUser, decide, readQueue } from '../../../contract/moderation.ts'
import { exactDay } from '../../format/time.ts'
import { call } from '../../http/call.ts'
import { write } from '../../http/write.ts'
import { changeViewer } from '../../session/viewer.ts'

type Queue = Answer<typeof readQueue>
export type Decision = Input<typeof decide>['body']

const QUEUE = ['moderation-queue']

const REFRESH_MS = 60_000

/**
 * Other moderators decide too, so the queue is read again by the minute while the page is looked
 * at.
 */
export function useQueue() {
  return useQuery({
    queryKey: QUEUE,
    queryFn: async ({ signal }) => {
      const queue = await call('GET /moderation/queue', {}, { signal })
      changeViewer({ waitingReports: queue.total })
      return queue
    },
    staleTime: 0,
    refetchOnWindowFocus: true,
    refetchInterval: REFRESH_MS,
  })
}

export function leaveQueue(client: QueryClient, postId: string): void {
  const queue = client.getQueryData<Queue>(QUEUE)
  const posts = queue?.posts.filter(({ id }) => id !== postId)
  if (!queue || !posts || posts.length === queue.posts.length) return
  const total = queue.total - 1
  client.setQueryData<Queue>(QUEUE, { posts, total })
  changeViewer({ waitingReports: total })
}

/** Resolves also when reading has failed. */
export function refreshQueue(client: QueryClient): Promise<void> {
  return client.invalidateQueries({ queryKey: QUEUE })
}

export const decidePost = (id: string, body: Decision) =>
  write('POST /moderation/posts/:id/decision', { params: { id }, body })

export const undoDecision = (id: string) =>
  write('POST /moderation/decisions/:id/undo', { params: { id } })

export const blockAuthor = (id: string, body: Input<typeof blockUser>['body']) =>
  write('PUT /moderation/users/:id/block', { params: { id }, body })

export const unblockAuthor = (id: string) =>
  write('DELETE /moderation/users/:id/block', { params: { id } })

export function blockEnd({ until }: Block): string {
  return until === null ? 'навсегда' : `до\u00a0${exactDay(until)}`
}
