import { randomUUID } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Writes a folder to the disk, so that a rename in it survives a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  await handle.sync().finally(() => handle.close())
}

/** Removes a file or folder if it exists. Tries twice, because one call may fail on a bad disk. */
export async function remove(path: string): Promise<void> {
  const options = { recursive: true, force: true, maxRetries: 3 }
  await rm(path, options).catch(() => rm(path, options))
}

type Replacing = { mode?: number; owner?: { uid: number; gid: number } }

/** Replaces a file as a whole: a failure or a power cut leaves the old content or the new one. */
export async function replaceFile(
  path: string,
  content: string | Uint8Array,
  { mode = 0o600, owner }: Replacing = {},
): Promise<void> {
  const fresh = `${path}.${randomUUID()}`
  try {
    await writeFresh(fresh, content, { mode, ...(owner && { owner }) })
    await rename(fresh, path)
  } catch (error) {
    await remove(fresh)
    throw error
  }
  await syncFolder(dirname(path))
}

async function writeFresh(
  path: string,
  content: string | Uint8Array,
  { mode, owner }: Replacing & { mode: number },
): Promise<void> {
  await using file = await open(path, 'wx', 0o600)
  await file.writeFile(content)
  if (owner) await file.chown(owner.uid, owner.gid)
  await file.chmod(mode)
  await file.sync()
}
