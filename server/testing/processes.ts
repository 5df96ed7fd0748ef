import { readdirSync, readFileSync } from 'node:fs'

/** The fields of /proc/PID/stat that follow a process's name, by their position (proc(5)). */
const PARENT = 1
const [CPU, CPU_OF_ENDED] = [11, 13]
const MICROSECONDS_PER_TICK = 10_000

export function childrenOf(pid: number): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Boolean)
  return pids.filter((other) => readStat(other)[PARENT] === pid)
}

/** In microseconds; `ofEnded` is the time of children that have ended. */
export function cpuOf(pid: number): { own: number; ofEnded: number } {
  const stat = readStat(pid)
  const timeAt = (index: number) =>
    ((stat[index] ?? 0) + (stat[index + 1] ?? 0)) * MICROSECONDS_PER_TICK
  return { own: timeAt(CPU), ofEnded: timeAt(CPU_OF_ENDED) }
}

/** A process's name may contain spaces itself. A process that has ended has no numbers. */
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
