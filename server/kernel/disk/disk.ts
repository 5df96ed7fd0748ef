import { stat } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { withDeadline } from '../deadline.ts'

/** The longest time that a file call may take on a disk that works. */
const ANSWER_MS = 15_000

/** The disk of a folder, such as one of the network, has not finished a file call in time. */
class DiskSilentError extends Error {
  readonly code = 'EDISKSILENT'
}

export function isDiskSilent(error: unknown): boolean {
  return error instanceof DiskSilentError
}

/** The file calls on one folder. They run in sequence. */
class Disk {
  readonly #folder: string
  #last: Promise<unknown> = Promise.resolve()
  #hanging = 0

  constructor(folder: string) {
    this.#folder = folder
  }

  isSilent(): boolean {
    return this.#hanging > 0
  }

  run<T>(work: () => Promise<T>, withinMs: number): Promise<T> {
    if (this.isSilent()) return Promise.reject(this.#error())
    let isLate = false
    const called = this.#last.then(() => {
      if (isLate) throw this.#error()
      return work()
    })
    this.#last = called.catch(() => {})
    return withDeadline(called, withinMs, () => {
      isLate = true
      this.#hanging++
      void this.#last.then(() => this.#hanging--)
      throw this.#error()
    })
  }

  #error(): DiskSilentError {
    return new DiskSilentError(`The disk of ${this.#folder} does not answer`)
  }
}

const disks = new Map<string, Disk>()

/**
 * Runs file calls on a folder whose disk may stop answering, after those that others have begun.
 * Rejects, as `isDiskSilent` tells, once they take too long, and then at once until they settle: a
 * call that hangs keeps one of the four threads that serve all files and DNS, so only one may.
 */
export function runOnDisk<T>(
  folder: string,
  work: () => Promise<T>,
  { withinMs = ANSWER_MS } = {},
): Promise<T> {
  const disk = disks.get(folder) ?? new Disk(folder)
  disks.set(folder, disk)
  return disk.run(work, withinMs)
}

export function isSilent(folder: string): boolean {
  return disks.get(folder)?.isSilent() ?? false
}

const WATCH_MS = 10_000

/** Does work of many file calls on a folder. Rejects, and aborts its signal, if the disk is silent. */
export async function whileDiskAnswers<T>(
  folder: string,
  work: (signal: AbortSignal) => Promise<T>,
  { signal, everyMs = WATCH_MS }: { signal: AbortSignal; everyMs?: number },
): Promise<T> {
  const silent = new AbortController()
  const over = new AbortController()
  const watch = async (): Promise<never> => {
    for (;;) {
      await delay(everyMs, undefined, { signal: over.signal })
      await runOnDisk(folder, () => stat(folder))
    }
  }
  try {
    return await Promise.race([work(AbortSignal.any([signal, silent.signal])), watch()])
  } catch (error) {
    if (isDiskSilent(error)) silent.abort(error)
    throw error
  } finally {
    over.abort()
  }
}

/** Ends the process. `process.exit` waits for file calls, so it would not return if one hangs. */
export function exitProcess(code: number): void {
  const hangs = [...disks.values()].some((disk) => disk.isSilent())
  if (hangs) process.execve?.('/bin/sh', ['sh', '-c', `exit ${code}`])
  process.exit(code)
}
