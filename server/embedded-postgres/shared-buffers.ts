import { totalmem } from 'node:os'
import { constrainedMemory } from 'node:process'

const LEAST_MIB = 64
const MOST_MIB = 512
/** Half of what PostgreSQL's manual starts from on a machine of its own: here Node and the page cache want some too. */
const SHARE = 1 / 8

/** The memory (bytes) this process may use: the machine's, or less where a container is held to less. */
export function usableMemory(): number {
  // 0 where nothing limits it.
  return Math.min(totalmem(), constrainedMemory() || Number.POSITIVE_INFINITY)
}

/** PostgreSQL's shared_buffers (MiB) on a machine with so much memory (bytes). It takes them up only as data is read. */
export function sharedBuffers(memory: number): number {
  const share = Math.floor((memory * SHARE) / 1024 ** 2)
  return Math.min(MOST_MIB, Math.max(LEAST_MIB, share))
}
