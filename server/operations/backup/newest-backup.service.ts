import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { FINISHED } from './backup-folder.ts'

/** Returns undefined for an empty folder, and rejects without the folder. */
export async function newestBackup(folder: string) {
  const names = (await readdir(folder)).filter((name) => FINISHED.test(name)).sort()
  const newest = names.at(-1)
  if (newest === undefined) return undefined
  const { mtime: at, size: bytes } = await stat(join(folder, newest))
  return { name: newest, at, bytes }
}
