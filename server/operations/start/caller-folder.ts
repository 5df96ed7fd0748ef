import { isAbsolute, join } from 'node:path'

/** Relative paths of whoever started this process begin here. */
export const callerFolder = process.cwd()

// A library reads its configuration from the current folder, which this user may not be able to read.
process.chdir(join(import.meta.dirname, '../../..'))

export function fromCaller(path: string): string {
  // Unlike `resolve` this leaves a slash at the end, which names a folder.
  return isAbsolute(path) ? path : join(callerFolder, path)
}
