import { isShortLimit, type ShortLimit } from '../http/call-error.ts'
import { wait } from '../platform/wait.ts'

/** Calls `send` again after each short limit, and rejects as `send` does otherwise. */
export async function withinLimit<T>(
  send: () => Promise<T>,
  onLimit: (error: ShortLimit) => void,
): Promise<T> {
  for (;;) {
    try {
      return await send()
    } catch (error) {
      if (!isShortLimit(error)) throw error
      onLimit(error)
      await wait(error.retryAfter * 1000)
    }
  }
}
