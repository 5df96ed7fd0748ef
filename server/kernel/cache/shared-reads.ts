import type { Generation, MemoryCache } from './cache.ts'
import type { CachedResponse } from './cached-response.ts'

type Make = () => Promise<CachedResponse>
type Read = {
  generation: Generation
  response: Promise<CachedResponse>
  next?: Promise<CachedResponse>
}

/** Shares the reads of one URL among those who ask for it at the same time (single-flight), and caches what they read. */
export function createSharedReads(cache: MemoryCache) {
  const reading = new Map<string, Read>()

  /** Caches what `make` resolves to, and lets others wait for it meanwhile. */
  function start(url: string, make: Make): Promise<CachedResponse> {
    const generation = cache.generation()
    const response = make().then((made) => {
      cache.put(url, made, generation)
      return made
    })
    const read: Read = { generation, response }
    reading.set(url, read)
    const end = () => {
      if (reading.get(url) === read) reading.delete(url)
    }
    response.then(end, end)
    return response
  }

  /**
   * Returns the response that is cached, or that of the read of the URL which is under way. If posts have changed since that
   * began, the next read is joined, which begins after it and is one for all that wait: a crowd costs one read at a time,
   * however often people write. Returns undefined where nobody reads the URL.
   */
  function find(url: string, make: Make): CachedResponse | Promise<CachedResponse> | undefined {
    const cached = cache.get(url)
    const read = reading.get(url)
    if (cached || !read) return cached
    if (cache.isCurrent(read.generation)) return read.response
    const startNext = async () => cache.get(url) ?? start(url, make)
    read.next ??= read.response.then(startNext, startNext)
    return read.next
  }

  return { start, find }
}
