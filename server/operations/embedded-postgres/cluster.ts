import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { errorCode } from '../../kernel/db/database-errors.ts'
import { StartError } from '../../kernel/errors/app-error.ts'
import { syncFolder } from '../start/data-dir.ts'
import type { Binaries } from './binaries.ts'
import { changeOwner, commandAs, type OsUser } from './os-user.ts'

const execute = promisify(execFile)
const UNFINISHED = 'postgres.new-'

export const SUPERUSER = 'postgres'
/** Also the name of its role. */
export const DATABASE = 'vslukh'

export type ClusterPaths = { dataDir: string; cluster: string; binaries: Binaries; user: OsUser }

/** Undefined until `initdb` has finished. */
function versionOf(cluster: string): string | undefined {
  try {
    return readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim()
  } catch (cause) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(cause))) return undefined
    throw new StartError(
      `База данных в ${cluster} принадлежит другому пользователю. ` +
        'Запускайте сервер и команды от него или отдайте папку тому, от кого они запущены: chown -R',
      { cause },
    )
  }
}

export function hasCluster(cluster: string): boolean {
  return versionOf(cluster) !== undefined
}

export function requireSameMajor(cluster: string, { major }: Binaries): void {
  const version = versionOf(cluster)
  if (version === undefined || version === major) return
  throw new StartError(
    `База данных в ${cluster} создана PostgreSQL ${version}, а здесь PostgreSQL ${major}: он её не откроет. ` +
      'Перенесите стену двумя командами: прежней версией программы сделайте копию (vslukh backup ФАЙЛ), ' +
      'этой верните её в новую папку DATA_DIR (vslukh restore ФАЙЛ).',
  )
}

/** If another start was faster, its cluster stays. */
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
    await syncFolder(paths.dataDir)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true, maxRetries: 3 })
    if (!hasCluster(paths.cluster)) throw error
  }
}

async function runInitdb(paths: ClusterPaths, folder: string) {
  const { file, args, ids } = commandAs(paths.user, paths.binaries.initdb, [
    `--pgdata=${folder}`,
    `--username=${SUPERUSER}`,
    '--encoding=UTF8',
    // Sorting and, from PostgreSQL 17 on, case do not change with the system's libraries.
    '--locale=C',
    ...localeOptions(Number(paths.binaries.major)),
    // Whoever can open the socket's 0700 folder may connect; nobody may over TCP.
    '--auth-local=trust',
    '--auth-host=reject',
    '--no-instructions',
  ])
  try {
    await execute(file, args, { ...ids, env: environment() })
  } catch (cause) {
    const stderr = (cause as { stderr?: string }).stderr?.trim() ?? ''
    throw new StartError(`Не удалось создать базу данных в ${paths.dataDir}. ${stderr}`.trim(), {
      cause,
    })
  }
}

function localeOptions(major: number): string[] {
  return major < 17
    ? ['--lc-ctype=C.UTF-8']
    : ['--locale-provider=builtin', '--builtin-locale=C.UTF-8']
}

/** PostgreSQL's programs get no PG* settings of the terminal and no locale of the machine. */
export function environment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('PG'))
  return { ...Object.fromEntries(inherited), LC_ALL: 'C', TZ: 'UTC' }
}

/** The caller must hold the lock on DATA_DIR. */
export async function removeUnfinished(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (!name.startsWith(UNFINISHED)) continue
    // A start that lost the race removes its folder itself.
    await rm(join(dataDir, name), { recursive: true, force: true, maxRetries: 3 }).catch(() => {})
  }
}
