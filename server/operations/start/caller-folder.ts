import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** The folder in which this process was started. Relative paths of the caller begin there. */
export const callerFolder = currentFolder()

// A library reads configuration in the current folder, which this user may be unable to read.
process.chdir(join(import.meta.dirname, '../../..'))

// It also reads the home folder, which a user without a name has only by this variable.
try {
  homedir()
} catch {
  process.env.HOME = '/'
}

/** Ends the process if the folder was deleted, for example by an upgrade. */
function currentFolder(): string {
  try {
    return process.cwd()
  } catch {
    process.stderr.write(
      'Папки, в которой запущена программа, больше нет. Перейдите в другую: cd /\n',
    )
    process.exit(1)
  }
}

export function resolveFromCaller(path: string): string {
  // Unlike `resolve` this leaves a slash at the end, which names a folder.
  return isAbsolute(path) ? path : join(callerFolder, path)
}
