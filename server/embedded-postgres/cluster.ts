import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { errorCode } from '../db/database-errors.ts'
import { keepSecret } from '../start/secret-file.ts'
import { StartError } from '../start/start-error.ts'
import type { Binaries } from './binaries.ts'
import { commandAs, giveTo, type OsUser } from './os-user.ts'

const execute = promisify(execFile)
const UNFINISHED = 'postgres.new-'

export const SUPERUSER = 'postgres'

export type Place = { dataDir: string; cluster: string; binaries: Binaries; user: OsUser }

/** The major version of PostgreSQL that made a cluster; undefined until `initdb` has run to its end. Throws StartError. */
function versionOf(cluster: string): string | undefined {
  try {
    return readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim()
  } catch (cause) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(cause))) return undefined
    throw new StartError(
      `База данных в ${cluster} принадлежит другому пользователю. ` +
        'Запустите сервер от него или отдайте папку тому, от кого он запущен: chown -R',
      { cause },
    )
  }
}

/** True once `initdb` has run to its end for this DATA_DIR. Throws StartError where another user owns what is there. */
export function hasCluster(cluster: string): boolean {
  return versionOf(cluster) !== undefined
}

/** Throws StartError where a cluster was made by another major version of PostgreSQL than these programs are. */
export function requireSameMajor(cluster: string, { major }: Binaries): void {
  const version = versionOf(cluster)
  if (version === undefined || version === major) return
  throw new StartError(
    `База данных в ${cluster} создана PostgreSQL ${version}, а здесь PostgreSQL ${major}: он её не откроет. ` +
      'Верните прежнюю версию программы или перенесите данные: ' +
      'выгрузите их прежней версией (pg_dump) и загрузите в новую папку DATA_DIR (psql).',
  )
}

/**
 * Makes DATA_DIR/postgres beside its final place and renames it there whole, so that it either exists complete or not
 * at all. Where another start is first, its cluster stays and this one is dropped.
 */
export async function createCluster(place: Place, password: string | undefined): Promise<void> {
  const unfinished = await mkdtemp(join(place.dataDir, UNFINISHED))
  try {
    await giveTo(place.user, unfinished)
    await runInitdb(place, unfinished, password)
    await rename(unfinished, place.cluster).catch(explainOccupied(place.cluster))
    await syncFolder(place.dataDir)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true, maxRetries: 3 })
    if (!hasCluster(place.cluster)) throw error
  }
}

function explainOccupied(cluster: string) {
  return (cause: unknown) => {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(errorCode(cause))) throw cause
    throw new StartError(
      `В ${cluster} лежат файлы, но это не база данных. Переместите их или укажите другую папку в DATA_DIR.`,
      { cause },
    )
  }
}

async function runInitdb(place: Place, folder: string, password: string | undefined) {
  const auth = password ? 'scram-sha-256' : 'trust'
  const { file, args, ids } = commandAs(place.user, place.binaries.initdb, [
    `--pgdata=${folder}`,
    `--username=${SUPERUSER}`,
    '--encoding=UTF8',
    // Built into PostgreSQL, so sorting and case do not change with the system's libraries.
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    `--auth-local=${auth}`,
    `--auth-host=${password ? auth : 'reject'}`,
    ...(password ? [`--pwfile=${passwordFile(place.dataDir)}`] : []),
    '--no-instructions',
  ])
  try {
    await execute(file, args, { ...ids, env: environment(), windowsHide: true })
  } catch (cause) {
    const said = (cause as { stderr?: string }).stderr?.trim() ?? ''
    throw new StartError(`Не удалось создать базу данных в ${place.dataDir}. ${said}`.trim(), {
      cause,
    })
  }
}

/** The environment for PostgreSQL's programs: no PG* settings of the terminal, no locale of the machine. */
export function environment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('PG'))
  return { ...Object.fromEntries(inherited), LC_ALL: 'C', TZ: 'UTC' }
}

/** A rename outlives a power cut only once its folder is on disk; Windows cannot open folders. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  await handle.sync().finally(() => handle.close())
}

/** Removes what interrupted first starts left behind. Call it only while holding the lock on DATA_DIR. */
export async function removeUnfinished(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (!name.startsWith(UNFINISHED)) continue
    // A start that lost the race may still be writing in there and then clears it itself.
    await rm(join(dataDir, name), { recursive: true, force: true, maxRetries: 3 }).catch(() => {})
  }
}

const passwordFile = (dataDir: string) => join(dataDir, 'postgres.password')

/** The password for TCP, made at the first start. */
export function keepPassword(dataDir: string): Promise<string> {
  return keepSecret(passwordFile(dataDir))
}
