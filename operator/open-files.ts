import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, fstatSync, lstatSync, openSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Duplex } from 'node:stream'
import { DELETION_LIST } from '../server/features/account-deletion/deletion-list.service.ts'
import { failureOf, OPENED_FILES, type OpenedFile } from '../server/kernel/config/opened-files.ts'
import {
  removeAbandonedFiles,
  removePath,
  unfinishedPath,
} from '../server/kernel/config/replace-file.ts'
import { errorCode } from '../server/kernel/db/database-errors.ts'
import { backupName, nameFile } from '../server/operations/backup/backup-folder.ts'
import { callerFolder, resolveFromCaller } from '../server/operations/start/caller-folder.ts'
import { parseCommandLine } from './command-line.ts'
import {
  isOfWall,
  mayWallWrite,
  openFolder,
  openNamedFile,
  type Place,
  pathOf,
  walkTo,
} from './named-path.ts'

const VSLUKH = join(import.meta.dirname, '../bin/vslukh')
const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants
/** The first descriptor after those of the terminal. */
const FIRST_FD = 3

type NewFile = { path: string; mayBeFolder: boolean; isDryRun: boolean }
type Names = { reads: string[]; writes?: NewFile }

/** Returns the paths of files that the command of a call reads, and of the file that it writes. */
export function namesIn(args: string[]): Names {
  const { given, positionals } = parseCommandLine(args)
  const [command, ...words] = positionals
  const isDryRun = given['dry-run'] === true
  const settings =
    typeof given['env-file'] === 'string' ? [resolveFromCaller(given['env-file'])] : []
  if (command === 'backup') {
    const path = resolveFromCaller(words[0] ?? '.')
    return { reads: settings, writes: { path, mayBeFolder: true, isDryRun } }
  }
  if (command === 'user' && words[1] === 'export' && words[2] !== undefined) {
    const writes = { path: resolveFromCaller(words[2]), mayBeFolder: false, isDryRun }
    return { reads: settings, writes }
  }
  if (!['verify', 'restore'].includes(command ?? '') || words[0] === undefined) {
    return { reads: settings }
  }
  const file = resolveFromCaller(words[0])
  // A restore reads the list of deletions beside the backup.
  const beside = command === 'restore' ? [join(dirname(file), DELETION_LIST)] : []
  return { reads: [...settings, file, ...beside] }
}

/** A new file under a hidden name, until the command has written it. */
type Target = OpenedFile & Place & { unfinished: string }

/**
 * Opens the files that a command of root names, and runs the command as the wall's user, who may not
 * enter their folders. Returns its exit code.
 */
export async function runWithOpenedFiles(args: string[]): Promise<number> {
  const { reads, writes } = namesOrNone(args)
  const files = reads.flatMap((path) => attempt(path, () => openToRead(path)))
  const targets = writes ? attempt(writes.path, () => openTarget(writes)) : []
  const [target] = targets.filter((one): one is Target => 'folder' in one)
  if (target) await removeAbandonedFiles(pathOf({ ...target, name: '.' }))
  try {
    return await runWithFiles(args, [...files, ...targets], target)
  } finally {
    if (target) await removePath(target.unfinished)
  }
}

/** A wrong call is reported by the command. */
function namesOrNone(args: string[]): Names {
  try {
    return namesIn(args)
  } catch {
    return { reads: [] }
  }
}

function attempt(given: string, open: () => OpenedFile | undefined): OpenedFile[] {
  try {
    const file = open()
    return file ? [file] : []
  } catch (error) {
    // The wall's user may have a right that root lacks, as on a network disk.
    if (['EACCES', 'EPERM'].includes(errorCode(error))) return []
    return [{ given, path: given, failure: failureOf(error) }]
  }
}

function openToRead(given: string): OpenedFile | undefined {
  const fd = openNamedFile(given)
  return fd === undefined ? undefined : { given, path: given, fd }
}

function openTarget({ path: given, mayBeFolder, isDryRun }: NewFile): OpenedFile | undefined {
  const named = walkTo(given)
  const place = named && mayBeFolder ? inFolder(named) : named
  if (!place) return undefined
  const isFolder = place !== named
  if (!isFolder && given.endsWith('/')) throw failedFile('ENOENT', given)
  if (lstatSync(pathOf(place), { throwIfNoEntry: false })) throw failedFile('EEXIST', given)
  const path = isFolder ? join(given, place.name) : given
  // The mode does not show an access control list.
  if (mayWallWrite(dirname(path))) return undefined
  if (isDryRun) return { given, path }
  const unfinished = unfinishedPath(pathOf(place))
  const flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
  const fd = openSync(unfinished, flags, 0o600)
  const target: Target = { given, path, fd, ...place, unfinished }
  return target
}

const failedFile = (code: string, path: string) =>
  Object.assign(new Error(`${code}: ${path}`), { code })

/** Returns the place of a new backup if a place is a folder; undefined if it is the wall's user's. */
function inFolder(place: Place): Place | undefined {
  if (!lstatSync(pathOf(place), { throwIfNoEntry: false })?.isDirectory()) return place
  const folder = openFolder(pathOf(place))
  closeSync(place.folder)
  return isOfWall(fstatSync(folder)) ? undefined : { folder, name: backupName(new Date()) }
}

/** Runs the command with the files open, and names its new file on demand. Returns the exit code. */
async function runWithFiles(args: string[], files: OpenedFile[], target: Target | undefined) {
  const fds = files.flatMap(({ fd }) => fd ?? [])
  const naming = FIRST_FD + fds.length
  const described = files.map(({ given, path, fd, failure }) => ({
    ...{ given, path, failure },
    ...(fd !== undefined && { fd: FIRST_FD + fds.indexOf(fd), naming }),
  }))
  const child = spawn(VSLUKH, args, {
    cwd: callerFolder,
    env: { ...process.env, [OPENED_FILES]: JSON.stringify(described) },
    stdio: ['inherit', 'inherit', 'inherit', ...fds, 'pipe'],
  })
  // The terminal sends these to the command too, which ends by itself.
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGHUP'] as const) process.on(signal, () => {})
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  const channel = child.stdio[naming] as Duplex
  channel.on('error', () => {})
  // The command asks by one byte, and can ask for nothing else.
  channel.once('data', async () => {
    const failure = target ? await nameTarget(target) : null
    channel.write(`${JSON.stringify(failure)}\n`)
  })
  const [code] = await once(child, 'exit')
  channel.destroy()
  return code ?? 1
}

async function nameTarget({ unfinished, ...place }: Target) {
  return nameFile(unfinished, pathOf(place)).then(() => null, failureOf)
}
