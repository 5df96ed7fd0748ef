/** False on plain http, where browsers have no Web Locks: all tabs then act at the same time. */
export const hasLocks = (): boolean => Boolean(navigator.locks)

/**
 * Calls `action` with the lock, or at once if the browser has no locks. With `ifAvailable`,
 * `action` receives null if another tab has the lock.
 */
export async function withLock<Result>(
  name: string,
  options: LockOptions,
  action: (lock: unknown) => Result | PromiseLike<Result>,
): Promise<Result> {
  return hasLocks() ? navigator.locks.request(name, options, action) : action(name)
}
