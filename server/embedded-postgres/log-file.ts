import { copyFile, open, stat, truncate } from 'node:fs/promises'

const LARGEST_LOG = 1024 * 1024

/**
 * Limits PostgreSQL's log to about two megabytes: past one, its text is copied to `.old`. The file is truncated in place,
 * because the running PostgreSQL goes on appending to it.
 */
export async function limitLogSize(path: string): Promise<void> {
  if ((await sizeOf(path)) <= LARGEST_LOG) return
  await copyFile(path, `${path}.old`)
  await truncate(path)
}

/** Returns the size of the log in bytes, 0 if there is none. */
export async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0
}

/** Returns the last lines that were logged since the offset `from` (in bytes): they say why PostgreSQL ended. */
export async function readLastLines(path: string, from: number): Promise<string> {
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
