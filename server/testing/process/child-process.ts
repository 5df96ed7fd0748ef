import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'

const POLL_MS = 20
const UP_WITHIN_MS = 30_000

/** Resolves when the child is gone. */
export async function endChild(
  child: ChildProcess | undefined,
  signal: NodeJS.Signals = 'SIGTERM',
): Promise<void> {
  if (!child || hasEnded(child)) return
  const exit = once(child, 'exit')
  child.kill(signal)
  await exit
}

/**
 * Resolves to the match of the first matching line; rejects with the output if the child ends
 * before. `onLine` receives every line. The output is read to its end, so that the child never
 * waits for a reader.
 */
export async function untilPrinted(
  child: ChildProcess,
  pattern: RegExp,
  onLine: (line: string) => void = () => {},
): Promise<RegExpExecArray> {
  const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>()
  const printed: string[] = []
  let found: RegExpExecArray | null = null
  const readLine = (line: string) => {
    onLine(line)
    if (found) return
    printed.push(line)
    found = pattern.exec(line)
    if (found) resolve(found)
  }
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', readLine)
  }
  child.once('exit', () => reject(new Error(printed.join('\n'))))
  return promise
}

/** Resolves to the address of the product; otherwise like `untilPrinted`. */
export async function untilReady(
  product: ChildProcess,
  onLine?: (line: string) => void,
): Promise<string> {
  const [, address = ''] = await untilPrinted(product, /^Готово: (\S+)$/, onLine)
  return address
}

/**
 * Asks until `isUp` resolves to true. Rejects with the printed errors, at the latest after 30 s.
 */
export async function untilUp(child: ChildProcess, isUp: () => Promise<boolean>): Promise<void> {
  const printed = child.stderr && text(child.stderr)
  const giveUp = AbortSignal.timeout(UP_WITHIN_MS)
  while (!(await isUp().catch(() => false))) {
    if (hasEnded(child)) throw new Error((await printed) ?? 'the program has ended')
    giveUp.throwIfAborted()
    await delay(POLL_MS)
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}
