import { spawnSync } from 'node:child_process'

/** The server has a core for itself; the load and PostgreSQL have the other. */
export const SERVER_CORE = 0
export const LOAD_CORE = 1

/** Pins all threads of a process to a core; returns whether it could. */
export function pin(pid: number | undefined, core: number): boolean {
  return spawnSync('taskset', ['-a', '-cp', String(core), String(pid)]).status === 0
}
