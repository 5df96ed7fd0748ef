import { readFile } from 'node:fs/promises'
import { errorCode } from '../db/database-errors.ts'

/** Returns the text of a file; undefined where there is none. */
export async function readIfExists(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error))) return undefined
    throw error
  }
}
