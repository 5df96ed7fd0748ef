/** False on plain http: there all tabs run at once what a lock is for. */
export const hasLocks = (): boolean => Boolean(navigator.locks)

/**
 * Calls `action` with the lock; without locks at once, as if no other tab were there. `action`
 * gets null if another tab has a lock that was wanted only `ifAvailable`.
 */
export async function withLock<Result>(
  name: string,
  options: LockOptions,
  action: (lock: unknown) => Result | PromiseLike<Result>,
): Promise<Result> {
  return hasLocks() ? navigator.locks.request(name, options, action) : action(name)
}
