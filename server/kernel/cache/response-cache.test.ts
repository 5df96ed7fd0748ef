import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import { postIdsOf } from '../../../contract/post-rules.ts'
import { listPosts, type PostPage } from '../../../contract/posts.ts'
import { stopClock } from '../../testing/passing-time.ts'
import { postOf } from '../../testing/post-of.ts'
import { Outage } from '../db/outage.ts'
import type { Http } from '../http/route.ts'
import { ResponseCache, type ViewerFlag } from './response-cache.ts'

/** Cached reads of a wall of one post, which the user 1 likes, within one moment. */
function cachedWall() {
  stopClock()
  const flag: ViewerFlag = {
    postIdsOf: (answer) => postIdsOf(answer as PostPage),
    setFor: (answer, liked) => {
      const posts = (answer as PostPage).posts.map((post) => ({
        ...post,
        actions: { ...post.actions, is_liked: liked.has(post.id) },
      }))
      return { ...(answer as PostPage), posts }
    },
    trueFor: async ({ userId }) => new Set(userId === '1' ? ['1'] : []),
  }
  const outage = new Outage({ url: '', log: { error() {}, warn() {} } })
  const cache = new ResponseCache({
    flag,
    headers: {},
    outage,
    log: pino({ enabled: false }),
    onChange() {},
    openFeed({ onSubscribed }) {
      onSubscribed(true)
      return { publish: async () => {}, close: async () => {} }
    },
  })
  const read = vi.fn(async () => ({ posts: [postOf('Текст')], total: 1 }))
  /** Reads as a user, or as a visitor for an empty id; returns whether the post is liked. */
  async function readAs(userId: string, headers: Record<string, string> = {}) {
    const viewer = userId ? { userId } : null
    const request = { url: '/api/v1/posts', headers, viewer }
    const http = { request, reply: { type() {}, headers() {} } } as unknown as Http
    const body = await cache.serveRead({ endpoint: listPosts, http }, read)
    return JSON.parse(body.toString()).posts[0].actions.is_liked
  }
  return { read, readAs, noteWrite: cache.noteWrite }
}

test('users who request a list at once share one read, and each sees their own likes', async () => {
  const { read, readAs } = cachedWall()
  // The first one reads as itself, with the likes that its own query finds.
  const [, ...others] = await Promise.all(['2', '1', '2', '1'].map((userId) => readAs(userId)))
  expect(others).toEqual([true, false, true])
  expect(read).toHaveBeenCalledTimes(1)
})

test('a user who has just written reads past the cache, on other nodes by Cache-Control; visitors with that header do not', async () => {
  const { read, readAs, noteWrite } = cachedWall()
  const noCache = { 'cache-control': 'no-cache' }
  await readAs('')
  expect([await readAs('1'), await readAs('2'), await readAs('', noCache)]).toEqual([
    true,
    false,
    false,
  ])
  expect(read).toHaveBeenCalledTimes(1)
  noteWrite('1')
  await readAs('1')
  expect(read).toHaveBeenCalledTimes(2)
  await readAs('2')
  expect(read).toHaveBeenCalledTimes(2)
  await readAs('2', noCache)
  expect(read).toHaveBeenCalledTimes(3)
})
