import { mkdirSync, rmSync, statfsSync } from 'node:fs'

const MEMORY = '/dev/shm'
const LEAST_FREE_BYTES = 4 * 1024 ** 3
const PREFIX = `${MEMORY}/vslukh-tests-`

/**
 * Lets this process and its children keep their temporary files in memory, since each test database
 * is some 500 files. A machine whose memory has no 4 GiB free keeps them in its usual folder.
 */
export function setup(): void {
  if (process.env.TMPDIR?.startsWith(PREFIX)) return
  const folder = `${PREFIX}${process.pid}`
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    if (bavail * bsize < LEAST_FREE_BYTES) return
    // PostgreSQL, which runs as another user than root, goes through it to folders of its own.
    mkdirSync(folder, { mode: 0o711 })
    process.env.TMPDIR = folder
    process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  } catch {
    // Memory has no file system here, or it may not be written.
  }
}
