import { readFile } from 'node:fs/promises'
import { errorCode } from '../db/database-errors.ts'

export async function readIfExists(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error))) return undefined
    throw error
  }
}
