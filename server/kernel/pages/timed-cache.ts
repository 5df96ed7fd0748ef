type Options = {
  maxAgeMs: number
  /** The oldest entry goes where there are more. */
  maxEntries: number
  /** Monotonic milliseconds. */
  clock?: () => number
}

/**
 * Caches the last few values that took work to make, for a while and without invalidation. Those who ask for one while it is
 * being made wait for the same; one that could not be made is not cached.
 */
export function createTimedCache<T>({
  maxAgeMs,
  maxEntries,
  clock = () => performance.now(),
}: Options) {
  const entries = new Map<string, { value: Promise<T>; madeAt: number }>()

  return (key: string, make: () => Promise<T>): Promise<T> => {
    const cached = entries.get(key)
    if (cached && clock() - cached.madeAt <= maxAgeMs) return cached.value
    const entry = { value: make(), madeAt: clock() }
    entries.delete(key)
    entries.set(key, entry)
    const [oldest] = entries.keys()
    if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest)
    entry.value.catch(() => {
      if (entries.get(key) === entry) entries.delete(key)
    })
    return entry.value
  }
}
