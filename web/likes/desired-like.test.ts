import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createDesiredLike, type LikeState } from './desired-like.ts'

/** A server of one post: answers each request when told to. */
function startServer(state: LikeState) {
  const requests: { liked: boolean; answer: () => void; refuse: () => void }[] = []
  const shown: LikeState[] = []
  const like = createDesiredLike({
    confirmed: state,
    show: (next) => shown.push(next),
    send: (liked) =>
      new Promise((resolve, reject) => {
        const answer = () => {
          state = { liked, count: state.count + Number(liked) - Number(state.liked) }
          resolve(state.count)
        }
        requests.push({ liked, answer, refuse: () => reject(new Error('refused')) })
      }),
  })
  return { like, requests, shown, state: () => state }
}

async function flush(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve()
}

test('a like is shown at once, and then with the count of the server', async () => {
  const { like, requests, shown } = startServer({ liked: false, count: 4 })
  const done = like.set(true)
  expect(shown.at(-1)).toEqual({ liked: true, count: 5 })
  requests[0]?.answer()
  await done
  expect(shown.at(-1)).toEqual({ liked: true, count: 5 })
})

test('quick taps end at the last desired state with two requests at most', async () => {
  const { like, requests, shown, state } = startServer({ liked: false, count: 0 })
  const taps = [true, false, true, false].map((liked) => like.set(liked))
  expect(requests.length).toBe(1)
  requests[0]?.answer()
  await flush()
  expect(requests.map((request) => request.liked)).toEqual([true, false])
  requests[1]?.answer()
  await Promise.all(taps)
  expect(requests.length).toBe(2)
  expect(state()).toEqual({ liked: false, count: 0 })
  expect(shown.at(-1)).toEqual({ liked: false, count: 0 })
})

test('taps that end at the state already sent need no second request', async () => {
  const { like, requests, shown } = startServer({ liked: false, count: 1 })
  const taps = [true, false, true].map((liked) => like.set(liked))
  requests[0]?.answer()
  await Promise.all(taps)
  expect(requests.length).toBe(1)
  expect(shown.at(-1)).toEqual({ liked: true, count: 2 })
})

test('a refusal rolls back to what the server confirmed last, and a later tap tries again', async () => {
  const { like, requests, shown } = startServer({ liked: true, count: 3 })
  const refused = like.set(false)
  requests[0]?.refuse()
  await expect(refused).rejects.toThrow('refused')
  expect(shown.at(-1)).toEqual({ liked: true, count: 3 })
  const done = like.set(false)
  requests[1]?.answer()
  await done
  expect(shown.at(-1)).toEqual({ liked: false, count: 2 })
})

test('whatever the taps and the answers, no count is below zero and the last shown state is the server’s', async () => {
  const start = fc.record({ liked: fc.boolean(), count: fc.nat({ max: 2 }) })
  await fc.assert(
    fc.asyncProperty(start, fc.array(fc.boolean(), { minLength: 1 }), async (state, acts) => {
      const server = startServer(
        state.liked && state.count === 0 ? { liked: true, count: 1 } : state,
      )
      let liked = server.state().liked
      let next = 0
      for (const tap of acts) {
        if (tap) {
          liked = !liked
          server.like.set(liked).catch(() => {})
        } else if (next < server.requests.length) server.requests[next++]?.answer()
        await flush()
      }
      for (; next < server.requests.length; next++) {
        server.requests[next]?.answer()
        await flush()
      }
      expect(server.shown.every(({ count }) => count >= 0)).toBe(true)
      expect(server.shown.at(-1) ?? server.state()).toEqual(server.state())
      expect(server.state().liked).toBe(liked)
    }),
  )
})

test('a state that is refused for a while is waited out, and the last desired one is sent then', async () => {
  const over = Promise.withResolvers<void>()
  const sent: boolean[] = []
  const like = createDesiredLike({
    confirmed: { liked: false, count: 3 },
    show: () => {},
    send: async (liked) => {
      sent.push(liked)
      if (sent.length === 1) throw new Error('too early')
      return 4
    },
    waitOut: () => over.promise,
  })
  const done = like.set(true)
  await flush()
  void like.set(false)
  void like.set(true)
  expect(sent).toEqual([true])
  over.resolve()
  await done
  expect(sent).toEqual([true, true])
})
