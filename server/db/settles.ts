/** Whether something comes to its end within so many milliseconds; resolves as soon as that is known. Rejects as it does. */
export async function settles(event: Promise<unknown>, withinMs: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(resolve, withinMs, false)
  return Promise.race([event.then(() => true), late]).finally(() => clearTimeout(timer))
}
