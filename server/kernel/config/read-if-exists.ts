import { errorCode } from '../db/database-errors.ts'
import { readNamedFile } from './opened-files.ts'

/** Resolves to undefined if the file or folder that a call names does not exist. */
export async function ifExists<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error))) return undefined
    throw error
  }
}

export function readIfExists(path: string): Promise<string | undefined> {
  return ifExists(readNamedFile(path))
}
