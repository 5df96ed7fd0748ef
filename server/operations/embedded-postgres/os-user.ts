import { execFile } from 'node:child_process'
import { chmod, lchown, lstat, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { StartError } from '../../kernel/errors/app-error.ts'

const execute = promisify(execFile)

/** The user who runs PostgreSQL: ids to switch to, or a `prefix` command that starts programs. */
export type OsUser = {
  uid: number | undefined
  gid: number | undefined
  switchIds: boolean
  prefix: string[]
}

export function commandAs(user: OsUser, program: string, args: string[]) {
  const [file = program, ...rest] = [...user.prefix, program, ...args]
  const ids = user.switchIds ? { uid: user.uid, gid: user.gid } : {}
  return { file, args: rest, ids: ids as { uid?: number; gid?: number } }
}

/** Returns this user or, as PostgreSQL refuses root, a user who can reach program and data. */
export async function chooseOsUser(postgres: string, dataDir: string): Promise<OsUser> {
  const uid = process.getuid?.()
  if (uid !== 0) return { uid, gid: process.getgid?.(), switchIds: false, prefix: [] }
  for await (const user of usersForRoot(postgres, dataDir)) {
    if (user.switchIds) await openToOthers(dataDir)
    if (await canReach(user, postgres, dataDir)) return user
  }
  throw new StartError(
    'PostgreSQL не запускается от root, а другого пользователя подобрать не удалось: ' +
      `ни unshare, ни nobody не видят ${postgres} и ${dataDir}. ` +
      'Запустите сервер не от root, откройте путь к этим папкам или задайте DATABASE_URL.',
  )
}

async function* usersForRoot(postgres: string, dataDir: string): AsyncGenerator<OsUser> {
  const owner = await stat(join(dataDir, 'postgres')).catch(() => undefined)
  if (owner && owner.uid !== 0) {
    yield { uid: owner.uid, gid: owner.gid, switchIds: true, prefix: [] }
    return
  }
  // In a user namespace PostgreSQL sees root as nobody, and root still reaches its closed folders.
  const prefix = ['unshare', '--user', '--map-user=65534', '--map-group=65534', '--']
  yield { uid: 0, gid: 0, switchIds: false, prefix }
  const nobody = await idsOfNobody()
  if (nobody) yield { ...nobody, switchIds: true, prefix: [] }
  // Under sudo the checkout may be closed to everyone but its owner.
  const { uid, gid } = await stat(postgres)
  if (uid !== 0) yield { uid, gid, switchIds: true, prefix: [] }
}

async function idsOfNobody(): Promise<{ uid: number; gid: number } | undefined> {
  try {
    const [uid, gid] = await Promise.all([
      execute('id', ['-u', 'nobody']),
      execute('id', ['-g', 'nobody']),
    ])
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
  } catch {
    return undefined
  }
}

async function openToOthers(dataDir: string): Promise<void> {
  const { mode } = await stat(dataDir)
  if ((mode & 0o001) === 0) await chmod(dataDir, (mode & 0o7777) | 0o001)
}

async function canReach(user: OsUser, postgres: string, dataDir: string): Promise<boolean> {
  const script = 'cd -- "$1" && exec "$2" --version'
  const { file, args, ids } = commandAs(user, '/bin/sh', ['-c', script, 'sh', dataDir, postgres])
  try {
    await execute(file, args, ids)
    return true
  } catch {
    return false
  }
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
