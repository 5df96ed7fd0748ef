import { readdirSync, readFileSync } from 'node:fs'

/** The fields of /proc/PID/stat that follow a process's name, by their position (proc(5)). */
const PARENT = 1
const [USER_TIME, SYSTEM_TIME] = [11, 12]
const MICROSECONDS_PER_TICK = 10_000

export function childrenOf(pid: number): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Boolean)
  return pids.filter((other) => readStat(other)[PARENT] === pid)
}

export const parentOf = (pid: number) => readStat(pid)[PARENT] ?? 0

/** In microseconds. */
export function cpuOf(pid: number): number {
  const { [USER_TIME]: user = 0, [SYSTEM_TIME]: system = 0 } = readStat(pid)
  return (user + system) * MICROSECONDS_PER_TICK
}

/** A process's name may contain spaces itself. A process that has ended has no numbers. */
function readStat(pid: number): number[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2)
    return fields.split(' ').map(Number)
  } catch {
    return []
  }
}
