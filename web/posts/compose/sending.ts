import { useState } from 'react'
import { CallError, isUnanswered } from '../../api/call-error.ts'
import { retryPause } from '../../api/query-client.ts'
import { createAtom, type ReadableAtom, useAtom } from '../../browser/atom.ts'

/** A text on its way to the server. */
export type Sending = {
  /** Resolves when it was sent; rejects with what prevents it. */
  done: Promise<void>
  /** Whether it waits for the service to be back. */
  isWaiting: ReadableAtom<boolean>
  /** Ends the waiting: `done` rejects with the last error. */
  stop: () => void
}

/** Pauses stay short: the person waits for it. */
const LONGEST_PAUSE_MS = 5000

const NOT_WAITING = createAtom(false)

const sendings = new Map<string, Sending>()

/**
 * Sends a text by `send`, and again and again while the service is away, until it is sent, refused or stopped. All attempts
 * have the same `submissionKey`, so that the server publishes the text once; who sends under a key that is on its way joins
 * that. `pause` returns the milliseconds to wait after so many failures.
 */
export function sendOnceBack(
  submissionKey: string,
  send: () => Promise<void>,
  pause: (failures: number, error: unknown) => number = usualPause,
): Sending {
  const known = sendings.get(submissionKey)
  if (known) return known
  const isWaiting = createAtom(false)
  const { promise: stopped, resolve: stop } = Promise.withResolvers<'stopped'>()

  async function sendAgainAndAgain(): Promise<void> {
    for (let failures = 1; ; failures++) {
      try {
        return await send()
      } catch (error) {
        if (!isAway(error, failures)) throw error
        isWaiting.set(true)
        const how = await Promise.race([wait(pause(failures, error)), stopped])
        if (how === 'stopped') throw error
      }
    }
  }

  const done = sendAgainAndAgain().finally(() => {
    sendings.delete(submissionKey)
    isWaiting.set(false)
  })
  const sending = { done, isWaiting, stop: () => stop('stopped') }
  sendings.set(submissionKey, sending)
  return sending
}

/** Sends texts by `send`, as sendOnceBack() does, and says of the last one whether it waits. */
export function useSendOnceBack(send: (text: string, submissionKey: string) => Promise<void>) {
  const [last, setLast] = useState<Sending | null>(null)
  return {
    isWaiting: useAtom(last?.isWaiting ?? NOT_WAITING, false),
    stop: () => last?.stop(),
    send(text: string, submissionKey: string): Promise<void> {
      const sending = sendOnceBack(submissionKey, () => send(text, submissionKey))
      setLast(sending)
      return sending.done
    },
  }
}

/** Whether the service is away for a while: it has said so, or has just said so and now does not answer at all. */
function isAway(error: unknown, failures: number): boolean {
  const hasSaidSo = error instanceof CallError && error.code === 'UNAVAILABLE'
  return hasSaidSo || (failures > 1 && isUnanswered(error))
}

function usualPause(failures: number, error: unknown): number {
  return Math.min(retryPause(failures, error, Math.random()), LONGEST_PAUSE_MS)
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
