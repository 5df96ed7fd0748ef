import { mkdirSync, rmSync, statfsSync } from 'node:fs'

const MEMORY = '/dev/shm'
const LEAST_FREE_BYTES = 4 * 1024 ** 3
const PREFIX = `${MEMORY}/vslukh-tests-`

/** Keeps temporary files in memory if 4 GiB are free: each test database has some 500 files. */
export function setup(): void {
  if (process.env.TMPDIR?.startsWith(PREFIX)) return
  const folder = `${PREFIX}${process.pid}`
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    if (bavail * bsize < LEAST_FREE_BYTES) return
    // PostgreSQL, which does not run as root, passes through it to folders of its own.
    mkdirSync(folder, { mode: 0o711 })
    process.env.TMPDIR = folder
    process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  } catch {
    // There is no file system in memory here, or it is not writable.
  }
}
