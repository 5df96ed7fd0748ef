import { totalmem } from 'node:os'
import { constrainedMemory } from 'node:process'

const MIN_BUFFERS_MIB = 64
const MAX_BUFFERS_MIB = 512
/** Half of what PostgreSQL's manual suggests for a machine of its own: here Node and the page cache need memory too. */
const BUFFERS_SHARE = 1 / 8

/** Returns the memory (bytes) that this process may use: the machine's, or less where a container is limited to less. */
export function usableMemory(): number {
  // 0 where there is no limit.
  return Math.min(totalmem(), constrainedMemory() || Number.POSITIVE_INFINITY)
}

/** Returns PostgreSQL's shared_buffers (MiB) for a machine with so much memory (bytes). They fill only as data is read. */
export function sharedBuffers(memory: number): number {
  const share = Math.floor((memory * BUFFERS_SHARE) / 1024 ** 2)
  return Math.min(MAX_BUFFERS_MIB, Math.max(MIN_BUFFERS_MIB, share))
}

/** The settings with which PostgreSQL is started, beside where it listens. */
export const SETTINGS = [
  'max_connections=120',
  `shared_buffers=${sharedBuffers(usableMemory())}MB`,
  'jit=off',
  'timezone=UTC',
  'log_timezone=UTC',
  'fsync=on',
  'full_page_writes=on',
  'synchronous_commit=on',
  // Only the server's own events: failed statements contain what users wrote, and the application gets their errors.
  'log_min_messages=log',
  'log_min_error_statement=panic',
  'log_checkpoints=off',
]
