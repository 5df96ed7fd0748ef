import { expect, test, vi } from 'vitest'
import { listPosts } from '../../contract/posts.ts'
import { watchOutages } from '../db/outage.ts'
import type { Http } from '../http/route.ts'
import { postOf } from '../testing/post-of.ts'
import { createMemoryCache } from './cache.ts'
import { createCachedReads } from './cached-reads.ts'

test('users who ask for a list in one turn of the event loop share one read of it, and each gets the own likes', async () => {
  const cache = createMemoryCache()
  cache.setSubscribed(true)
  const likedBy = async ({ userId }: { userId: string }) => new Set(userId === '1' ? ['1'] : [])
  const outage = watchOutages({ url: '', log: { error() {}, warn() {} } })
  const { serveRead } = createCachedReads(cache, { likedBy, headers: {}, outage })
  const read = vi.fn(async () => ({ posts: [postOf('Текст')], total: 1 }))
  const readAs = async (userId: string) => {
    const request = { url: '/api/v1/posts', headers: {}, viewer: { userId } }
    const http = { request, reply: { type() {} } } as unknown as Http
    const body = await serveRead({ endpoint: listPosts, http }, read)
    return JSON.parse(body.toString()).posts[0].actions.is_liked
  }
  // The first one reads as itself, with the likes that its own query finds.
  const [, ...others] = await Promise.all(['2', '1', '2', '1'].map(readAs))
  expect(others).toEqual([true, false, true])
  expect(read).toHaveBeenCalledTimes(1)
})
