import { Refusal } from './command-errors.ts'

const interrupting = new AbortController()

/** Aborts at the first SIGINT or SIGTERM, with a Refusal as its reason. */
export const interruption = interrupting.signal

/** The first signal lets the command clean up, the second ends the process at once. */
export function listenForInterruption(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => interrupting.abort(new Refusal('Прервано.')))
  }
}

/** Rejects with the Refusal if the interruption comes first. */
export async function unlessInterrupted<T>(work: Promise<T>): Promise<T> {
  interruption.throwIfAborted()
  const { promise, reject } = Promise.withResolvers<never>()
  const onAbort = () => reject(interruption.reason)
  interruption.addEventListener('abort', onAbort, { once: true })
  return Promise.race([work, promise]).finally(() =>
    interruption.removeEventListener('abort', onAbort),
  )
}
