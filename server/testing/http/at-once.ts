/** Few enough that no request waits so long for a database connection that it is refused. */
const AT_ONCE = 16

/** Runs at most 16 tasks at a time. Returns their results in the order of the tasks. */
export async function atOnce<T>(tasks: readonly (() => Promise<T>)[]): Promise<T[]> {
  const results: T[] = []
  const waiting = tasks.entries()
  async function work() {
    for (const [index, task] of waiting) results[index] = await task()
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return results
}
