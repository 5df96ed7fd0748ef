import { Refusal } from './command-errors.ts'

const interrupting = new AbortController()

/** Aborts at the first SIGINT or SIGTERM, with a Refusal as its reason. */
export const interruption = interrupting.signal

/** Listens for those signals: the first one lets the command clean up, the second ends the process at once. */
export function listenForInterruption(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => interrupting.abort(new Refusal('Прервано.')))
  }
}

/** Returns a promise's result; rejects with the Refusal where the interruption comes first. */
export async function unlessInterrupted<T>(work: Promise<T>): Promise<T> {
  interruption.throwIfAborted()
  const { promise, reject } = Promise.withResolvers<never>()
  const onAbort = () => reject(interruption.reason)
  interruption.addEventListener('abort', onAbort, { once: true })
  return Promise.race([work, promise]).finally(() =>
    interruption.removeEventListener('abort', onAbort),
  )
}
