import { useState } from 'react'
import { CallError, isShortLimit, isUnanswered } from '../../http/call-error.ts'
import { retryPause } from '../../http/query-client.ts'
import { createAtom, type ReadableAtom, useAtom } from '../../platform/atom.ts'
import { wait } from '../../platform/wait.ts'

/** The error that delays a text, and when it is sent again (unix milliseconds). */
export type Waiting = { error: CallError; until: number }

export type Sending = {
  done: Promise<void>
  waiting: ReadableAtom<Waiting | null>
  /** Ends the waiting: `done` rejects with the last error. */
  stop: () => void
}

/** Pauses stay short, because a person waits. */
const LONGEST_PAUSE_MS = 5000

const NOT_WAITING = createAtom<Waiting | null>(null)

const sendings = new Map<string, Sending>()

/**
 * Sends a text until the server has accepted or refused it or the person stops it. All attempts
 * have the same `submissionKey`, so that the server publishes the text once, and a second call with
 * this key joins the first. `pause` returns milliseconds.
 */
export function sendWhenAvailable(
  submissionKey: string,
  send: () => Promise<void>,
  pause: (failures: number, error: CallError) => number = usualPause,
): Sending {
  const known = sendings.get(submissionKey)
  if (known) return known
  const waiting = createAtom<Waiting | null>(null)
  const { promise: stopped, resolve: stop } = Promise.withResolvers<'stopped'>()

  async function sendAgainAndAgain(): Promise<void> {
    for (let failures = 1; ; failures++) {
      try {
        return await send()
      } catch (error) {
        if (!passes(error, failures)) throw error
        const ms = pause(failures, error)
        waiting.set({ error, until: Date.now() + ms })
        const how = await Promise.race([wait(ms), stopped])
        if (how === 'stopped') throw error
      }
    }
  }

  const done = sendAgainAndAgain().finally(() => {
    sendings.delete(submissionKey)
    waiting.set(null)
  })
  const sending = { done, waiting, stop: () => stop('stopped') }
  sendings.set(submissionKey, sending)
  return sending
}

export function useSendWhenAvailable(send: (text: string, submissionKey: string) => Promise<void>) {
  const [last, setLast] = useState<Sending | null>(null)
  return {
    waiting: useAtom(last?.waiting ?? NOT_WAITING, null),
    stop: () => last?.stop(),
    send(text: string, submissionKey: string): Promise<void> {
      const sending = sendWhenAvailable(submissionKey, () => send(text, submissionKey))
      setLast(sending)
      return sending.done
    },
  }
}

/** A person whose browser is offline at the first attempt is told instead. */
function passes(error: unknown, failures: number): error is CallError {
  if (!(error instanceof CallError)) return false
  if (isUnanswered(error)) return failures > 1 || globalThis.navigator?.onLine !== false
  return error.code === 'UNAVAILABLE' || isShortLimit(error)
}

function usualPause(failures: number, error: CallError): number {
  if (isShortLimit(error)) return error.retryAfter * 1000
  return Math.min(retryPause(failures, error, Math.random()), LONGEST_PAUSE_MS)
}
