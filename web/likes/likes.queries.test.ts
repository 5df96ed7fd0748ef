import { InfiniteQueryObserver } from '@tanstack/react-query'
import fc from 'fast-check'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import type { ErrorCode } from '../../contract/errors.ts'
import { makePost } from '../../contract/post.fixture.ts'
import { queryClient } from '../http/query-client.ts'
import { resetToken } from '../http/token.ts'
import { pagesKey } from '../posts/cache/list-cache.ts'
import { nextVersion, putPosts } from '../posts/cache/post-cache.ts'
import { type AnsweringServer, refusal, startAnsweringServer } from '../testing/answering-server.ts'
import { sendTap, shownLikes } from './likes.queries.ts'

const ID = '1'

type State = { is_liked: boolean; likes_count: number }
type Request = { liked: boolean; answer: () => void; refuse: (code?: ErrorCode) => void }

let server: AnsweringServer
let state: State
/** Requests that wait for an answer. `sent` records all of them. */
let held: Request[]
let sent: boolean[]

beforeEach(async () => {
  server = await startAnsweringServer()
  resetToken('none')
  onTestFinished(() => resetToken('unknown'))
  startPage({ is_liked: false, likes_count: 4 })
  server.answer = ({ call }) =>
    new Promise((resolve) => {
      const liked = call.startsWith('POST')
      sent.push(liked)
      const answer = () => {
        const step = Number(liked) - Number(state.is_liked)
        state = { is_liked: liked, likes_count: state.likes_count + step }
        resolve({ status: 200, body: { likes_count: state.likes_count } })
      }
      const refuse = (code: ErrorCode = 'UNAVAILABLE') =>
        resolve(refusal(code, { 'retry-after': '0' }))
      held.push({ liked, answer, refuse })
    })
})

/** Starts a page that shows one post, without any taps. */
function startPage(first: State): void {
  state = first
  held = []
  sent = []
  queryClient.clear()
  putPosts([makePost(ID, state)])
}

function tap(liked: boolean): Promise<boolean> {
  return sendTap({ name: 'like', postId: ID, liked })
}

const shown = () => shownLikes(ID)

/** Waits until the page has sent what it wants to send. */
async function nextRequest(): Promise<Request | undefined> {
  while (held.length === 0 && queryClient.isMutating() > 0) await new Promise(setImmediate)
  return held.shift()
}

test('after a short limit only the last tap is sent', async () => {
  const taps = [tap(true)]
  const first = await nextRequest()
  taps.push(tap(false), tap(true))
  first?.refuse('TOO_MANY_REQUESTS')
  ;(await nextRequest())?.answer()
  expect(await Promise.all(taps)).toEqual([true, true, true])
  expect(sent).toEqual([true, true])
  expect(shown()).toEqual({ is_liked: true, likes_count: 5 })
})

test('a read in flight changes no pending like, but updates the likes of others', async () => {
  const version = nextVersion()
  const done = tap(true)
  const request = await nextRequest()
  putPosts([makePost(ID, { is_liked: false, likes_count: 6 })], version)
  expect(shown()).toEqual({ is_liked: true, likes_count: 7 })
  request?.answer()
  await done
  putPosts([makePost(ID, { is_liked: false, likes_count: 4 })], version)
  expect(shown()).toEqual({ is_liked: true, likes_count: 5 })
})

test('a like set before the post was read also shows after an answer to an earlier read', async () => {
  queryClient.clear()
  const read = Promise.withResolvers<void>()
  const list = new InfiniteQueryObserver(queryClient, {
    queryKey: pagesKey('wall', 'a'),
    queryFn: async () => {
      const version = nextVersion()
      await read.promise
      return putPosts([makePost(ID, { is_liked: false, likes_count: 4 })], version)
    },
    initialPageParam: null,
    getNextPageParam: () => null,
  })
  const stop = list.subscribe(() => {})
  const done = tap(true)
  ;(await nextRequest())?.answer()
  // Another answer arrives after the one to the like.
  await fetch(`${server.origin}/api/v1/sessions/current`, { method: 'PATCH' })
  read.resolve()
  await done
  stop()
  expect(shown()).toEqual({ is_liked: true, likes_count: 5 })
})

test('no sequence of taps and answers shows a count below zero, and the last state shown is the server’s', async () => {
  const start = fc.record({ is_liked: fc.boolean(), likes_count: fc.nat({ max: 2 }) })
  const act = fc.constantFrom<'tap' | 'answer' | 'refuse'>('tap', 'answer', 'refuse')
  await fc.assert(
    fc.asyncProperty(start, fc.array(act, { minLength: 1 }), async (first, acts) => {
      startPage(first.is_liked ? { ...first, likes_count: first.likes_count + 1 } : first)
      const taps: Promise<boolean>[] = []
      let last = state.is_liked
      for (const act of acts) {
        if (act === 'tap') {
          last = !shown()?.is_liked
          taps.push(tap(last))
        } else (await nextRequest())?.[act]()
        expect(shown()?.likes_count).toBeGreaterThanOrEqual(0)
      }
      for (let next = await nextRequest(); next; next = await nextRequest()) next.answer()
      const isDone = (await Promise.all(taps)).at(-1) ?? true
      expect(shown()).toEqual(state)
      if (isDone) expect(state.is_liked).toBe(last)
    }),
  )
})
