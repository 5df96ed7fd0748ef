import type { Generation, MemoryCache } from './cache.ts'
import type { CachedResponse } from './cached-response.ts'

type Make = () => Promise<CachedResponse>
type Read = {
  generation: Generation
  response: Promise<CachedResponse>
  next?: Promise<CachedResponse>
}

/** Makes reads of one URL at the same time one read (single-flight), and caches their result. */
export function createSharedReads(cache: MemoryCache) {
  const reading = new Map<string, Read>()

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
   * Returns the cached response or the read under way. If posts have changed since that began, all
   * who wait share the next read: a crowd costs one read at a time.
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
