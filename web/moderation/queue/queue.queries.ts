import { queryOptions, useQuery } from '@tanstack/react-query'
import type { Answer, Input } from '../../../contract/endpoint.ts'
import type {
  Block,
  blockUser,
  decide,
  QueuedPost,
  readQueue,
} from '../../../contract/moderation.ts'
import { exactDay } from '../../format/labels.ts'
import { call } from '../../http/call.ts'
import { queryClient } from '../../http/query-client.ts'
import { serverNow } from '../../http/server-clock.ts'
import { write } from '../../http/write.ts'
import { createAtom, useAtom } from '../../platform/atom.ts'
import { changeViewer } from '../../session/viewer.ts'

type Queue = Answer<typeof readQueue>
export type Decision = Input<typeof decide>['body']

/** What a moderator has done: the queue shows it while the server does not know of it. */
export type Act = {
  postId: string
  /** Absent if nothing is decided about the post itself. */
  verdict?: Decision['verdict']
  /** The author who is blocked, and whether their posts of the last day are removed. */
  blocked?: { authorId: string; block: Block; removesRecent?: true }
}

export const DAY_SECONDS = 86_400

const QUEUE = ['moderation-queue']

const REFRESH_MS = 60_000

const NO_ACTS: readonly Act[] = []
const acts = createAtom(NO_ACTS)

const queueQuery = queryOptions({
  queryKey: QUEUE,
  queryFn: async ({ signal }) => {
    const queue = await call('GET /moderation/queue', {}, { signal })
    showTotal(queue)
    return queue
  },
  staleTime: 0,
})

/**
 * Other moderators decide too, so the queue is read again by the minute while the page is looked
 * at.
 */
export function useQueue() {
  const { data, error, refetch } = useQuery({
    ...queueQuery,
    refetchOnWindowFocus: true,
    refetchInterval: REFRESH_MS,
  })
  const shown = useAtom(acts, NO_ACTS)
  return { data: data && shown.reduce(withAct, data), error, refetch }
}

/** Reads the post of a dialog, if it is not in the queue that the page shows. */
export function useModeratedPost(id: string, { isOnWall = true } = {}) {
  return useQuery({
    queryKey: ['moderated-post', id],
    queryFn: ({ signal }) => call('GET /moderation/posts/:id', { params: { id } }, { signal }),
    initialData: () => (isOnWall ? undefined : shownPosts().find((post) => post.id === id)),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
}

/** Reads the reasons that reports can give, as the dialog of reports does. */
export function useReasons() {
  return useQuery({
    queryKey: ['report-reasons'],
    queryFn: ({ signal }) => call('GET /reports/reasons', {}, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** Returns the posts that the page shows. */
export function shownPosts(): Queue['posts'] {
  const queue = queryClient.getQueryData<Queue>(QUEUE)
  return queue ? acts.get().reduce(withAct, queue).posts : []
}

export function showAct(act: Act): void {
  changeActs([...acts.get(), act])
}

/** Ends an act that was cancelled, or is answered. The queue keeps what `isDone`. */
export function endAct(act: Act, isDone: boolean): void {
  if (isDone) {
    queryClient.setQueryData<Queue>(QUEUE, (queue) => queue && withAct(queue, act))
    // More posts may wait than one answer contains.
    void refreshQueue()
  }
  changeActs(acts.get().filter((other) => other !== act))
}

function changeActs(next: readonly Act[]): void {
  acts.set(next)
  const queue = queryClient.getQueryData<Queue>(QUEUE)
  if (queue) showTotal(queue)
}

function showTotal(queue: Queue): void {
  changeViewer({ waitingReports: acts.get().reduce(withAct, queue).total })
}

function withAct({ posts, total }: Queue, { postId, verdict, blocked }: Act): Queue {
  const left = posts.filter((post) => {
    const isDecided = verdict !== undefined && post.id === postId
    return !isDecided && !(blocked?.removesRecent && isRecentOf(post, blocked.authorId))
  })
  const shown = left.map((post) =>
    post.author.id === blocked?.authorId
      ? { ...post, author: { ...post.author, block: blocked.block } }
      : post,
  )
  return { posts: shown, total: total - posts.length + left.length }
}

/** Whether a removal of what an author has published within a day removes the post. */
export function isRecentOf(post: QueuedPost, authorId: string): boolean {
  const isRecent = post.createdAt > serverNow() - DAY_SECONDS
  return isRecent && post.author.id === authorId && mayRemove(post)
}

export function mayRemove({ state }: QueuedPost): boolean {
  return state === 'published' || state === 'hidden'
}

/** Resolves also when reading has failed. After an act on the wall the total is read by it. */
export function refreshQueue(): Promise<void> {
  const isKnown = queryClient.getQueryData(QUEUE) !== undefined
  return isKnown
    ? queryClient.invalidateQueries({ queryKey: QUEUE })
    : queryClient.prefetchQuery(queueQuery)
}

export const decidePost = (id: string, body: Decision, by: string) =>
  write('POST /moderation/posts/:id/decision', { params: { id }, body }, { by, keepalive: true })

export const blockAuthor = (id: string, body: Input<typeof blockUser>['body'], by: string) =>
  write('PUT /moderation/users/:id/block', { params: { id }, body }, { by, keepalive: true })

export const unblockAuthor = (id: string) =>
  write('DELETE /moderation/users/:id/block', { params: { id } })

export function blockEnd({ until }: Block): string {
  return until === null ? 'навсегда' : `до\u00a0${exactDay(until)}`
}
