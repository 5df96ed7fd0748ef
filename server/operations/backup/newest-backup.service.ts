import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { FINISHED } from './backup-folder.ts'

/** Returns when the newest backup in a folder was made, and its size; undefined where there is none. Rejects without the folder. */
export async function newestBackup(folder: string) {
  const names = (await readdir(folder)).filter((name) => FINISHED.test(name)).sort()
  const newest = names.at(-1)
  if (newest === undefined) return undefined
  const { mtime: at, size: bytes } = await stat(join(folder, newest))
  return { at, bytes }
}
