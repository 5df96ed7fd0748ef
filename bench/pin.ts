import { spawnSync } from 'node:child_process'

/** The server has a core for itself; the load and PostgreSQL have the other. */
export const SERVER_CORE = 0
export const LOAD_CORE = 1

const hasTaskset = spawnSync('taskset', ['--version']).status === 0

/** Pins a command to a core, if the system can. */
export function pinned(core: number, [file = '', ...args]: string[]): [string, string[]] {
  return hasTaskset ? ['taskset', ['-c', String(core), file, ...args]] : [file, args]
}

/** Pins all threads of a process to a core; returns whether it could. */
export function pin(pid: number | undefined, core: number): boolean {
  return spawnSync('taskset', ['-a', '-cp', String(core), String(pid)]).status === 0
}
