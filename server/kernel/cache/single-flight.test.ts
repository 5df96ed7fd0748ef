import { expect, test } from 'vitest'
import { MemoryCache, SharedReads } from './cache.ts'
import { CachedResponse } from './cached-response.ts'

/** Shared reads of one URL whose ends the test decides. */
function readsOfOneUrl() {
  const cache = new MemoryCache({ clock: () => 0 })
  cache.setSubscribed(true)
  const shared = new SharedReads(cache)
  const begun: PromiseWithResolvers<CachedResponse>[] = []
  function make(): Promise<CachedResponse> {
    const read = Promise.withResolvers<CachedResponse>()
    begun.push(read)
    return read.promise
  }
  const read = () => shared.find('/posts', make) ?? shared.start('/posts', make)
  return { cache, begun, read }
}

const responseOf = (tag: string) =>
  new CachedResponse({ route: '/posts', type: 'text/plain', headers: {}, body: Buffer.of(), tag })

test('reads after a change wait for one next read', async () => {
  const { cache, begun, read } = readsOfOneUrl()
  const first = read()
  expect(read()).toBe(first)
  cache.invalidate({ kind: 'added', answered: [] })
  const late = [read(), read()]
  cache.invalidate({ kind: 'added', answered: [] })
  late.push(read())
  expect(begun).toHaveLength(1)
  begun[0]?.resolve(responseOf('before'))
  expect((await first).tag).toBe('before')
  await expect.poll(() => begun.length).toBe(2)
  begun[1]?.resolve(responseOf('after'))
  expect((await Promise.all(late)).map(({ tag }) => tag)).toEqual(['after', 'after', 'after'])
  expect(begun).toHaveLength(2)
})

test('a failed read fails for all that share it, and the next one begins', async () => {
  const { cache, begun, read } = readsOfOneUrl()
  const first = read()
  cache.invalidate({ kind: 'edited' })
  const late = read()
  begun[0]?.reject(new Error('away'))
  await expect(first).rejects.toThrow('away')
  await expect.poll(() => begun.length).toBe(2)
  const response = responseOf('after')
  begun[1]?.resolve(response)
  expect(await late).toBe(response)
})
