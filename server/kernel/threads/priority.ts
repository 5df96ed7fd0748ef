import { readdirSync, readFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

const TASKS = '/proc/self/task'
const LOWEST = 19

/**
 * Lowers the priority of this thread, or of another of this process, so that beside a busy one it
 * gets a tenth of a core (by 10) or a thirtieth (by 15); see sched(7). Only Linux has priorities of
 * threads.
 */
export function lowerPriority(by: number, thread = 0): void {
  if (process.platform === 'linux') setPriority(thread, Math.min(LOWEST, getPriority() + by))
}

/**
 * Lowers the priority of the threads in which V8 marks garbage and compiles: on one or two cores
 * the one that answers would otherwise get as little as each of them while they run.
 */
export function lowerV8Priority(): void {
  if (process.platform !== 'linux') return
  try {
    for (const thread of readdirSync(TASKS)) {
      const name = readFileSync(`${TASKS}/${thread}/comm`, 'utf8')
      if (name.includes('V8Worker')) lowerPriority(10, Number(thread))
    }
  } catch {
    // Where the system hides threads or forbids this, the server is only slower.
  }
}
