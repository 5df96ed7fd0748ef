import { execFileSync, spawnSync } from 'node:child_process'
import type { Stats } from 'node:fs'
import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync } from 'node:fs'
import { Refusal } from './command.ts'

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants
/** Opens a folder to go through it (open(2)); Node does not name this flag of Linux. */
const O_PATH = 0o10000000
/** In a folder with this bit, users can remove only what they own. */
const STICKY = 0o1000
const MOST_LINKS = 40
/** Descriptors of this process, which nobody else can lead elsewhere. */
const OWN = /^\/dev\/(fd\/|stdin$)|^\/proc\/self\/fd\//

/** A name in an open folder. Closing `folder` is up to the caller. */
export type Place = { folder: number; name: string }

/** Returns the path of a place that does not depend on what becomes of the folders above it. */
export const pathOf = ({ folder, name }: Place) => `/proc/self/fd/${folder}/${name}`

/** Opens a folder to go through it. A link is refused. */
export const openFolder = (path: string) => openSync(path, O_PATH | O_DIRECTORY | O_NOFOLLOW)

type Ids = { uid: number; gids: number[] }

let wallIds: Ids | undefined

/** Returns the uid and the gids of the system's user `vslukh`; -1 and none if it does not exist. */
function idsOfWallUser(): Ids {
  wallIds ??= askIds()
  return wallIds
}

function askIds(): Ids {
  const ask = (what: string) =>
    execFileSync('id', [what, 'vslukh'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  try {
    return { uid: Number(ask('-u')), gids: ask('-G').trim().split(' ').map(Number) }
  } catch {
    // Nothing is installed here, and there is no such user.
    return { uid: -1, gids: [] }
  }
}

/** Returns whether the wall's user owns or may write this file or folder. */
export function isOfWall({ uid, gid, mode }: Stats): boolean {
  const ids = idsOfWallUser()
  if (uid === ids.uid || (mode & 0o020 && ids.gids.includes(gid))) return true
  return (mode & 0o002) !== 0 && (mode & STICKY) === 0
}

/** Returns whether the wall's user may make files in a folder. */
export function mayWallWrite(folder: string): boolean {
  return spawnSync('runuser', ['-u', 'vslukh', '--', 'test', '-w', folder]).status === 0
}

/**
 * Walks to the folder of an absolute path, one name at a time, and follows only links of root and of
 * the user who called sudo. Returns undefined if the wall's user owns or may write a folder or link on
 * the way: what is there may be a trap, and has to be used with that user's rights. Throws ELOOP for
 * too many links, as open(2) does.
 */
export function walkTo(path: string): Place | undefined {
  const names = path.split('/').filter(Boolean)
  let folder = openFolder('/')
  let links = 0
  const enter = (next: string) => {
    const entered = openFolder(next)
    closeSync(folder)
    folder = entered
    return !isOfWall(fstatSync(folder))
  }
  try {
    for (let name = names.shift(); name !== undefined; name = names.shift()) {
      const found = statOf({ folder, name })
      if (found?.uid === idsOfWallUser().uid && isShared(fstatSync(folder))) return undefined
      if (found?.isSymbolicLink()) {
        if (++links > MOST_LINKS) throw tooManyLinks(path)
        if (![0, Number(process.env.SUDO_UID ?? 0)].includes(found.uid)) return undefined
        const target = readlinkSync(pathOf({ folder, name }))
        names.unshift(...target.split('/').filter(Boolean))
        if (target.startsWith('/') && !enter('/')) return undefined
      } else if (names.length === 0) {
        const place = { folder, name }
        folder = -1
        return place
      } else if (!enter(pathOf({ folder, name }))) return undefined
    }
    return undefined
  } finally {
    if (folder !== -1) closeSync(folder)
  }
}

function tooManyLinks(path: string): Error {
  const error = new Error(`ELOOP: too many symbolic links encountered, open '${path}'`)
  return Object.assign(error, { code: 'ELOOP', syscall: 'open', path })
}

/** Everybody may make files here, and remove their own. */
const isShared = ({ mode }: Stats) => (mode & 0o002) !== 0

function statOf(place: Place): Stats | undefined {
  return lstatSync(pathOf(place), { throwIfNoEntry: false })
}

/**
 * Opens a file whose content root acts upon. Throws Refusal if the wall's user may change the file,
 * or lead its path elsewhere.
 */
export function openTrustedFile(path: string): number {
  if (process.getuid?.() !== 0 || process.platform !== 'linux') return openSync(path, O_RDONLY)
  const fd = openNamedFile(path)
  if (fd !== undefined && (OWN.test(path) || !isOfWall(fstatSync(fd)))) return fd
  if (fd !== undefined) closeSync(fd)
  throw new Refusal(
    `${path}: этот файл может подменить не только root. Переместите его, например в /root.`,
  )
}

/** Opens a file to read. Returns undefined if the wall's user may lead the path elsewhere. */
export function openNamedFile(path: string): number | undefined {
  if (OWN.test(path)) return openSync(path, O_RDONLY)
  const place = walkTo(path)
  if (!place) return undefined
  try {
    // Without O_NONBLOCK a named pipe would be waited for.
    return openSync(pathOf(place), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } finally {
    closeSync(place.folder)
  }
}
