import { execFile } from 'node:child_process'
import { chmod, lchown, lstat, readdir, stat } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { StartError } from '../../kernel/errors/app-error.ts'

const execute = promisify(execFile)
/** The user and the group `nobody` of Linux. */
const NOBODY = 65_534

/** Runs a program in a user namespace, where it sees its user as nobody. */
const AS_NOBODY = ['unshare', '--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`, '--']

/** The user who runs PostgreSQL. `prefix` is a command that starts programs. */
export type OsUser = { uid: number | undefined; gid: number | undefined; prefix: string[] }

export function commandAs({ uid, gid, prefix }: OsUser, program: string, args: string[]) {
  const [file = program, ...rest] = [...prefix, program, ...args]
  return { file, args: rest, ids: { uid, gid } as { uid?: number; gid?: number } }
}

/** Runs a program to its end. Rejects if it fails. */
export function runAs(user: OsUser, program: string, argv: string[], env = process.env) {
  const { file, args, ids } = commandAs(user, program, argv)
  return execute(file, args, { ...ids, env })
}

/** Returns this user or, as PostgreSQL refuses root, a user who can reach program and data. */
export async function chooseOsUser(postgres: string, dataDir: string): Promise<OsUser> {
  const uid = process.getuid?.()
  if (uid !== 0) return { uid, gid: process.getgid?.(), prefix: [] }
  for (const user of await usersForRoot(postgres, dataDir)) {
    if (user.uid !== 0) await openToOthers(dataDir)
    if (await canReach(user, postgres, dataDir)) return user
  }
  throw new StartError(
    'PostgreSQL не запускается от root, а другого пользователя подобрать не удалось: ' +
      `ни unshare, ни nobody не видят ${postgres} и ${dataDir}. ` +
      'Запустите сервер не от root, откройте путь к этим папкам или задайте DATABASE_URL.',
  )
}

/** Returns the user who runs initdb, which alone refuses an id without a name. */
export function userWithName(user: OsUser): OsUser {
  try {
    userInfo()
    return user
  } catch {
    return user.prefix.length > 0 ? user : { ...user, prefix: AS_NOBODY }
  }
}

async function usersForRoot(postgres: string, dataDir: string): Promise<OsUser[]> {
  const owner = await stat(join(dataDir, 'postgres')).catch(() => undefined)
  if (owner && owner.uid !== 0) return [{ uid: owner.uid, gid: owner.gid, prefix: [] }]
  // Under sudo the checkout may be closed to everyone but its owner.
  const { uid, gid } = await stat(postgres)
  return [
    // In the namespace root still reaches its closed folders.
    { uid: 0, gid: 0, prefix: AS_NOBODY },
    { uid: uid || NOBODY, gid: uid === 0 ? NOBODY : gid, prefix: [] },
  ]
}

async function openToOthers(dataDir: string): Promise<void> {
  const { mode } = await stat(dataDir)
  if ((mode & 0o001) === 0) await chmod(dataDir, (mode & 0o7777) | 0o001)
}

async function canReach(user: OsUser, postgres: string, dataDir: string): Promise<boolean> {
  const script = 'cd -- "$1" && exec "$2" --version'
  const running = runAs(user, '/bin/sh', ['-c', script, 'sh', dataDir, postgres])
  return running.then(
    () => true,
    () => false,
  )
}

/** Changes the owner of all files, the folder last, so that an interrupted run is repeated. */
export async function changeOwner(user: OsUser, folder: string): Promise<void> {
  const { uid, gid } = user
  if (process.getuid?.() !== 0 || uid === undefined || gid === undefined) return
  if ((await lstat(folder)).uid === uid) return
  for (const name of await readdir(folder, { recursive: true })) {
    await lchown(join(folder, name), uid, gid)
  }
  await lchown(folder, uid, gid)
}
