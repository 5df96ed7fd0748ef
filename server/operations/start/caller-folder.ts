import { isAbsolute, join } from 'node:path'

/** The folder that this process was started in: relative paths of whoever started it begin there. */
export const callerFolder = process.cwd()

// A library reads its configuration from the current folder as soon as it is imported. That folder is somebody else's, and may be
// one that this user cannot read.
process.chdir(join(import.meta.dirname, '../../..'))

/** Returns a path of the command line as an absolute one. */
export function fromCaller(path: string): string {
  // Unlike `resolve` this leaves a slash at the end, by which a folder is named.
  return isAbsolute(path) ? path : join(callerFolder, path)
}
