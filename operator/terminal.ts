import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import { type Readable, Writable } from 'node:stream'
import { Interrupted, Refusal } from './command.ts'

const interrupting = new AbortController()

/** The signal that aborts at the first Ctrl+C, SIGTERM or hang-up, with a Refusal as its reason. */
export const interruption = interrupting.signal

/** Aborts `interruption` at the first signal. The second signal ends the process at once. */
export function listenForInterruption(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => interrupting.abort(new Refusal('Прервано.')))
  }
}

/** Rejects as soon as `interruption` aborts; `work` itself continues. */
export async function unlessInterrupted<T>(work: Promise<T>): Promise<T> {
  interruption.throwIfAborted()
  const interrupted = once(interruption, 'abort').then(() => Promise.reject(interruption.reason))
  return Promise.race([work, interrupted])
}

type TerminalStreams = { input: Readable; err: Writable }

/** Asks on a terminal. Throws Interrupted if Ctrl+C or Ctrl+D ends the question. */
export async function prompt(
  { input, err }: TerminalStreams,
  question: string,
  { isHidden = false } = {},
): Promise<string> {
  // The readline interface echoes the answer, so a hidden answer gets an output that discards it.
  const output = isHidden ? new Writable({ write: (_chunk, _encoding, done) => done() }) : err
  const questions = createInterface({ input, output, terminal: true })
  // Writes the question after createInterface(), which turns off the terminal's own echo.
  if (isHidden) err.write(question)
  try {
    return (await questions.question(isHidden ? '' : question)).trim()
  } catch (cause) {
    throw new Interrupted('Прервано.', { cause })
  } finally {
    questions.close()
    if (isHidden) err.write('\n')
  }
}
