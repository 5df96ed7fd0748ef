import type { MemoryCache, Version } from './cache.ts'
import type { CachedResponse } from './cached-response.ts'

type Make = () => Promise<CachedResponse>
type Find = () => CachedResponse | undefined
type Read = { version: Version; response: Promise<CachedResponse>; next?: Promise<CachedResponse> }

/** Shares the reads of one URL among those who ask for it at the same time (single-flight), and caches what they read. */
export function createSharedReads(cache: MemoryCache) {
  const reading = new Map<string, Read>()

  /** Caches what `make` resolves to, and lets others wait for it meanwhile. */
  function start(url: string, make: Make): Promise<CachedResponse> {
    const version = cache.version()
    const response = make().then((made) => {
      cache.put(url, made, version)
      return made
    })
    const read: Read = { version, response }
    reading.set(url, read)
    const end = () => {
      if (reading.get(url) === read) reading.delete(url)
    }
    response.then(end, end)
    return response
  }

  return {
    start,

    /**
     * Resolves to the response of the read of a URL that is under way, unless something has changed since it began: then to
     * that of the next one, which begins after this call and is one for all that wait for it. So a crowd costs one read
     * at a time, however often posts and likes change. The next one does not begin where `find` returns what may be served by
     * then. Returns undefined when nobody reads the URL.
     */
    join(url: string, make: Make, find?: Find): Promise<CachedResponse> | undefined {
      const read = reading.get(url)
      if (!read) return undefined
      if (cache.isCurrent(read.version)) return read.response
      const startNext = async () => find?.() ?? start(url, make)
      read.next ??= read.response.then(startNext, startNext)
      return read.next
    },
  }
}
