import { copyFile, open, stat, truncate } from 'node:fs/promises'

const LARGEST_LOG = 1024 * 1024

/**
 * Keeps the log of PostgreSQL under about two megabytes: past one, it moves to `.old`. Cut in place, because the running
 * PostgreSQL keeps appending to the file it was given.
 */
export async function boundLog(path: string): Promise<void> {
  if ((await sizeOf(path)) <= LARGEST_LOG) return
  await copyFile(path, `${path}.old`)
  await truncate(path)
}

/** The size of the log in bytes, 0 if there is none. */
export async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0
}

/** The last lines that came into the log since `from` (in bytes): why PostgreSQL ended. */
export async function readComplaint(path: string, from: number): Promise<string> {
  const handle = await open(path, 'r').catch(() => undefined)
  if (!handle) return ''
  try {
    const buffer = Buffer.alloc(8192)
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, from)
    return buffer.toString('utf8', 0, bytesRead).trim().split('\n').slice(-6).join('\n')
  } finally {
    await handle.close()
  }
}
