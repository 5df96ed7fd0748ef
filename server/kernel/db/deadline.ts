/**
 * Resolves or rejects as `work` does; after `ms` milliseconds, with what `onMissed` returns or throws instead. Nothing
 * stops the work itself.
 */
export async function withDeadline<T, M>(
  work: Promise<T>,
  ms: number,
  onMissed: () => M,
): Promise<T | M> {
  const { promise: deadline, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  return Promise.race([work, deadline.then(onMissed)]).finally(() => clearTimeout(timer))
}

/** Whether `work` resolves within so many milliseconds. Rejects as it does. */
export function endsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  return withDeadline(
    work.then(() => true),
    ms,
    () => false,
  )
}
