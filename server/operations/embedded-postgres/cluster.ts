import type { ExecFileException } from 'node:child_process'
import { mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { removePath, syncFolder } from '../../kernel/config/replace-file.ts'
import { errorCode } from '../../kernel/db/database-errors.ts'
import { StartError } from '../../kernel/errors/app-error.ts'
import { programReason, whyFailed } from '../../kernel/errors/why-failed.ts'
import type { Binaries } from './binaries.ts'
import { changeOwner, type OsUser, runAs, userWithName } from './os-user.ts'

const UNFINISHED = 'postgres.new-'

export const SUPERUSER = 'postgres'
/** The name of the product's database, and of its role. */
export const DATABASE = 'vslukh'

export type ClusterPaths = { dataDir: string; cluster: string; binaries: Binaries; user: OsUser }

/** Returns the major version of a cluster, such as '18'; undefined until `initdb` has finished. */
async function versionOf(cluster: string): Promise<string | undefined> {
  try {
    return (await readFile(join(cluster, 'PG_VERSION'), 'utf8')).trim()
  } catch (cause) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(cause))) return undefined
    if (!['EACCES', 'EPERM'].includes(errorCode(cause))) {
      throw new StartError(`База данных в ${cluster} не читается: ${whyFailed(cause)}.`, { cause })
    }
    throw new StartError(
      `База данных в ${cluster} принадлежит другому пользователю. ` +
        'Запускайте сервер и команды от него или отдайте папку тому, от кого они запущены: chown -R',
      { cause },
    )
  }
}

/** Returns whether `initdb` has finished. Throws StartError if another user owns the files. */
export async function hasCluster(cluster: string): Promise<boolean> {
  return (await versionOf(cluster)) !== undefined
}

/** Throws StartError if the cluster is of another major version than the programs. */
export async function requireSameMajor(cluster: string, { major }: Binaries): Promise<void> {
  const version = await versionOf(cluster)
  if (version === undefined || version === major) return
  throw new StartError(
    `База данных в ${cluster} создана PostgreSQL ${version}, а здесь PostgreSQL ${major}: он её не откроет. ` +
      'Перенесите стену двумя командами: прежней версией программы сделайте копию (vslukh backup ФАЙЛ), ' +
      'этой верните её в новую папку DATA_DIR (vslukh restore ФАЙЛ).',
  )
}

/** Creates a cluster, and names it when it is complete. Keeps the cluster of a faster start. */
export async function createCluster(paths: ClusterPaths): Promise<void> {
  const unfinished = await mkdtemp(join(paths.dataDir, UNFINISHED))
  try {
    await changeOwner(paths.user, unfinished)
    await runInitdb(paths, unfinished)
    await rename(unfinished, paths.cluster).catch((cause) => {
      if (!['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(errorCode(cause))) throw cause
      throw new StartError(
        `В ${paths.cluster} лежат файлы, но это не база данных. Переместите их или укажите другую папку в DATA_DIR.`,
        { cause },
      )
    })
  } catch (error) {
    await removePath(unfinished)
    if (!(await hasCluster(paths.cluster))) throw error
    return
  }
  await syncFolder(paths.dataDir)
}

async function runInitdb(paths: ClusterPaths, folder: string) {
  const args = [
    `--pgdata=${folder}`,
    `--username=${SUPERUSER}`,
    '--encoding=UTF8',
    // Sorting and, from PostgreSQL 17 on, case do not depend on the system's libraries.
    '--locale=C',
    ...localeOptions(Number(paths.binaries.major)),
    // Users who can open the socket's 0700 folder may connect. TCP connections are refused.
    '--auth-local=trust',
    '--auth-host=reject',
    '--no-instructions',
  ]
  const user = userWithName(paths.user)
  try {
    await runAs(user, paths.binaries.initdb, args, environment())
  } catch (cause) {
    const failed = cause as ExecFileException & { stderr?: string }
    const { stderr = '', signal, message } = failed
    const isNameless = user !== paths.user || stderr.includes('could not look up effective user')
    const why = stderr.trim() || message
    const reason = stderr.includes('No space left')
      ? 'На её диске не хватает места: освободите 100 МиБ или укажите другую папку в DATA_DIR'
      : isNameless
        ? namelessReason(why)
        : programReason(why, signal)
    throw new StartError(`Не удалось создать базу данных в ${paths.dataDir}. ${reason}`, {
      cause,
    })
  }
}

const namelessReason = (why: string) =>
  `У пользователя ${process.getuid?.()} нет имени (строки в /etc/passwd), а без него PostgreSQL базу не создаёт: ${why}. ` +
  'Запустите от пользователя, у которого имя есть (в контейнере это один из пользователей образа), ' +
  'или задайте DATABASE_URL с адресом своего PostgreSQL'

function localeOptions(major: number): string[] {
  return major < 17
    ? ['--lc-ctype=C.UTF-8']
    : ['--locale-provider=builtin', '--builtin-locale=C.UTF-8']
}

/** Returns the environment of PostgreSQL's programs: no PG* variables, and a fixed locale. */
export function environment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('PG'))
  return { ...Object.fromEntries(inherited), LC_ALL: 'C', TZ: 'UTC' }
}

/** Removes clusters of interrupted starts. The caller must hold the lock on DATA_DIR. */
export async function removeUnfinishedClusters(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (!name.startsWith(UNFINISHED)) continue
    // A start that lost the race removes its folder itself.
    await rm(join(dataDir, name), { recursive: true, force: true, maxRetries: 3 }).catch(() => {})
  }
}
