import { queryOptions, useQuery } from '@tanstack/react-query'
import type { Answer, Input } from '../../../contract/endpoint.ts'
import type {
  Block,
  blockUser,
  decide,
  QueuedPost,
  readQueue,
} from '../../../contract/moderation.ts'
import { MODERATION_PATH } from '../../../contract/pages.ts'
import { formatDate } from '../../format/labels.ts'
import { call } from '../../http/call.ts'
import { outdatedPause, queryClient } from '../../http/query-client.ts'
import { serverNow } from '../../http/server-clock.ts'
import { createAtom, useAtom } from '../../platform/atom.ts'
import { changeViewer } from '../../session/viewer.ts'
import { write } from '../../session/write.ts'

type Queue = Answer<typeof readQueue>
export type Decision = Input<typeof decide>['body']

/** A moderator's act, which the queue shows as done before the server has answered. */
export type Act = {
  postIds: readonly string[]
  /** Absent if the act only blocks the author. */
  verdict?: Decision['verdict']
  /** The blocked author, and whether their posts of the last day are removed. */
  blocked?: { authorId: string; block: Block; removesRecent?: true }
}

export const DAY_SECONDS = 86_400

const QUEUE = ['moderation-queue']

const REFRESH_MS = 60_000

const acts = createAtom<readonly Act[]>([])

const queueQuery = queryOptions({
  queryKey: QUEUE,
  queryFn: async ({ signal }) => {
    const queue = await call('GET /moderation/queue', {}, { signal })
    showTotal(queue)
    return queue
  },
  staleTime: 0,
})

/** Reads the queue again each minute, because other moderators decide too. */
export function useQueue() {
  const { data, error, refetch } = useQuery({
    ...queueQuery,
    refetchOnWindowFocus: true,
    refetchInterval: ({ state }) => outdatedPause(state) || REFRESH_MS,
  })
  const shown = useAtom(acts)
  return { data: data && shown.reduce(withAct, data), error, refetch }
}

/** Returns whether the page is the queue. Other pages show posts as everybody sees them. */
export function isQueueShown(): boolean {
  return location.pathname === MODERATION_PATH
}

/** Reads the post of a dialog, or takes it from the queue if the page shows the queue. */
export function useModeratedPost(id: string) {
  return useQuery({
    queryKey: ['moderated-post', id],
    queryFn: ({ signal }) => call('GET /moderation/posts/:id', { params: { id } }, { signal }),
    initialData: () => (isQueueShown() ? shownPosts().find((post) => post.id === id) : undefined),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    // A form keeps what is typed when the session ends.
    meta: { outlivesViewer: true },
  })
}

/** Returns the posts of the queue as the page shows them, after all acts that are pending. */
export function shownPosts(): Queue['posts'] {
  const queue = queryClient.getQueryData<Queue>(QUEUE)
  return queue ? acts.get().reduce(withAct, queue).posts : []
}

export function showAct(act: Act): void {
  changeActs([...acts.get(), act])
}

/** Ends an act that was cancelled or answered. If `isDone`, the queue keeps its effect. */
export function endAct(act: Act, isDone: boolean): void {
  if (isDone) {
    queryClient.setQueryData<Queue>(QUEUE, (queue) => queue && withAct(queue, act))
    // Another post may take the place, because one answer contains only a part of the queue.
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

function withAct({ posts, total, appeals }: Queue, { postIds, verdict, blocked }: Act): Queue {
  const left = posts.filter((post) => {
    const isDecided = verdict !== undefined && postIds.includes(post.id)
    return !isDecided && !(blocked?.removesRecent && isRecentOf(post, blocked.authorId))
  })
  const shown = left.map((post) =>
    post.author.id === blocked?.authorId
      ? { ...post, author: { ...post.author, block: blocked.block } }
      : post,
  )
  const gone = posts.length - left.length
  const decidedAppeals = countAppeals(posts) - countAppeals(left)
  return { posts: shown, total: total - gone, appeals: appeals - decidedAppeals }
}

function countAppeals(posts: readonly QueuedPost[]): number {
  return posts.filter(({ appeal }) => appeal).length
}

/** Returns whether removing an author's posts of the last day would remove the post. */
export function isRecentOf(post: QueuedPost, authorId: string): boolean {
  const isRecent = post.createdAt > serverNow() - DAY_SECONDS
  return isRecent && post.author.id === authorId && mayRemove(post)
}

export function mayRemove({ state }: QueuedPost): boolean {
  return state === 'published' || state === 'hidden'
}

/** Reads the queue, even if only its total is shown. Resolves even if the read fails. */
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
  return until === null ? 'навсегда' : `до\u00a0${formatDate(until)}`
}
