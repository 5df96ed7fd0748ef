import { createReadStream, fstat, read, readFile, write } from 'node:fs'
import { stat } from 'node:fs/promises'
import { promisify } from 'node:util'

/** What an error of a file call is known by, as it passes from one process to another. */
type Failure = { message: string; code?: string; errno?: number; syscall?: string }

/**
 * A file that root has opened for a command of the wall's user, or could not open. Root opens what
 * its caller names, because the wall's user may not enter the folder (operator/open-files.ts).
 */
export type OpenedFile = {
  /** The path that the caller has named. */
  given: string
  /** The path of the file, which is in the folder `given` if that is a folder. */
  path: string
  fd?: number | undefined
  failure?: Failure | undefined
  /** The descriptor over which root is asked to name a new file. */
  naming?: number | undefined
}

/** The variable that describes the opened files to the command. */
export const OPENED_FILES = 'VSLUKH_OPENED_FILES'

const openedFiles: OpenedFile[] = JSON.parse(process.env[OPENED_FILES] ?? '[]')
delete process.env[OPENED_FILES]

export function failureOf(error: unknown): Failure {
  const { message, code, errno, syscall } = error as Failure
  return { message, ...(code && { code }), ...(errno && { errno }), ...(syscall && { syscall }) }
}

const toError = ({ message, ...known }: Failure, path: string) =>
  Object.assign(new Error(message), known, { path })

/** Returns what root has opened at a path, or has failed to open. */
export function findOpenedFile(path: string): OpenedFile | undefined {
  return openedFiles.find((one) => one.given === path || one.path === path)
}

/** Returns the file that root has opened at a path. Throws root's failure to open it. */
export function getOpenedFile(path: string): OpenedFile | undefined {
  const found = findOpenedFile(path)
  if (found?.failure) throw toError(found.failure, path)
  return found
}

/** Reads a text file by its path, or from the descriptor that root has opened. */
export async function readNamedFile(path: string): Promise<string> {
  return promisify(readFile)(getOpenedFile(path)?.fd ?? path, 'utf8')
}

type Range = { start?: number; end: number; signal?: AbortSignal | undefined }

/** Streams bytes of the file at a path, or of the descriptor that root has opened. */
export function streamNamedFile(path: string, { start = 0, ...range }: Range) {
  const fd = getOpenedFile(path)?.fd
  const options = { start, ...range }
  return createReadStream(path, fd === undefined ? options : { ...options, fd, autoClose: false })
}

export async function sizeOfNamedFile(path: string): Promise<number> {
  const fd = getOpenedFile(path)?.fd
  return (await (fd === undefined ? stat(path) : promisify(fstat)(fd))).size
}

/** Makes root give a new file, which is complete, its name. Throws root's failure. */
export async function askForName({ path, naming = -1 }: OpenedFile): Promise<void> {
  await promisify(write)(naming, Buffer.from('\n'))
  const { bytesRead, buffer } = await promisify(read)(naming, Buffer.alloc(4096), 0, 4096, null)
  const failure: Failure | null = JSON.parse(buffer.toString('utf8', 0, bytesRead))
  if (failure) throw toError(failure, path)
}
