import { readdirSync, readFileSync } from 'node:fs'

/** The fields of /proc/PID/stat that follow a process's name, by their position (proc(5)). */
const PARENT = 1
const [CPU, CPU_OF_ENDED] = [11, 13]
const MICROSECONDS_PER_TICK = 10_000

/** Returns the ids of the children of a process. */
export function childrenOf(pid: number): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Boolean)
  return pids.filter((other) => readStat(other)[PARENT] === pid)
}

/**
 * Returns the processor time that a process has used, in microseconds; `ofEnded` is that of its children that have ended. Both are 0
 * where the process has ended.
 */
export function cpuOf(pid: number): { own: number; ofEnded: number } {
  const stat = readStat(pid)
  const timeAt = (index: number) =>
    ((stat[index] ?? 0) + (stat[index + 1] ?? 0)) * MICROSECONDS_PER_TICK
  return { own: timeAt(CPU), ofEnded: timeAt(CPU_OF_ENDED) }
}

/** Returns the numbers after a process's name, which may contain spaces itself; none where the process has ended. */
function readStat(pid: number): number[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
  } catch {
    return []
  }
}
