/** Settles as `work`, or after `ms` as `onMissed`. */
export async function withDeadline<T, M>(
  work: Promise<T>,
  ms: number,
  onMissed: () => M,
): Promise<T | M> {
  const { promise: deadline, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  return Promise.race([work, deadline.then(onMissed)]).finally(() => clearTimeout(timer))
}

export function endsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  return withDeadline(
    work.then(() => true),
    ms,
    () => false,
  )
}
