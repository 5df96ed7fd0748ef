import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createPart } from './part.ts'

beforeEach(() => vi.stubGlobal('navigator', { onLine: true }))
afterEach(() => vi.unstubAllGlobals())

/** A part that comes when the network does, and how often it was asked for. */
function partOver(network: { works: boolean }) {
  const fetchContent = vi.fn(async () => {
    if (!network.works) throw new TypeError('Failed to fetch')
    return 'content'
  })
  return { part: createPart(fetchContent), fetchContent }
}

test('a part is fetched once for all who ask, and is there from then on', async () => {
  const { part, fetchContent } = partOver({ works: true })
  expect(part.content()).toBeUndefined()
  expect(await Promise.all([part.load(), part.load(), part.ahead()])).toHaveLength(3)
  expect(part.content()).toBe('content')
  await part.load()
  expect(fetchContent).toHaveBeenCalledTimes(1)
})

test('a failure is told to all who asked, and forgotten', async () => {
  const network = { works: false }
  const { part, fetchContent } = partOver(network)
  const both = await Promise.allSettled([part.load(), part.load()])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(fetchContent).toHaveBeenCalledTimes(1)
  network.works = true
  expect(await part.load()).toBe('content')
})

test('fetching ahead fails in silence, and is not even tried offline', async () => {
  const { part, fetchContent } = partOver({ works: false })
  await part.ahead()
  expect(fetchContent).toHaveBeenCalledTimes(1)
  vi.stubGlobal('navigator', { onLine: false })
  await part.ahead()
  expect(fetchContent).toHaveBeenCalledTimes(1)
})
