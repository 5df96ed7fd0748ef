import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { deriveKey, loadAppSecret, readStoredSecret } from '../../kernel/config/app-secret.ts'
import type { Config } from '../../kernel/config/config.ts'
import { ifExists } from '../../kernel/config/read-if-exists.ts'
import { LARGEST_SKEW_MS, measureClockSkew } from '../../kernel/db/clock.ts'
import {
  FEWEST_CONNECTIONS,
  neededConnections,
  readConnectionLimit,
} from '../../kernel/db/connections.ts'
import { type Db, withStartDatabase } from '../../kernel/db/database.ts'
import { StartError } from '../../kernel/errors/app-error.ts'

type Secret = Pick<Config, 'appSecret' | 'dataDir'>
type SecretSettings = Secret & Pick<Config, 'acceptNewSecret'>

/** Throws StartError if DATA_DIR has a secret but no database: its disk may not be mounted. */
export async function refuseLostDatabase({ appSecret, dataDir }: SecretSettings): Promise<void> {
  if (appSecret !== undefined || (await ifExists(stat(join(dataDir, 'postgres'))))) return
  if ((await readStoredSecret(dataDir)) === undefined) return
  throw new StartError(
    `В ${dataDir} есть секрет (app-secret), но нет базы данных (postgres), для которой он создан. ` +
      'Подключите её диск или верните её из копии; чтобы начать новую стену, удалите app-secret.',
  )
}

/** Returns or creates the secret. Throws StartError for another secret, or a clock 60 s off. */
export function requireWallSecret(
  url: string,
  settings: SecretSettings,
  say: (line: string) => void,
): Promise<string> {
  return withStartDatabase(url, async ({ db }) => {
    await requireSameClock(db)
    const stored = await readFingerprint(db)
    const secret = await loadSecret(settings, stored !== null && !settings.acceptNewSecret)
    const own = deriveKey(secret, 'fingerprint')
    // Of two simultaneous first starts with different secrets, one is refused.
    await db
      .updateTable('installation')
      .set({ secret_fingerprint: own })
      .where((eb) =>
        eb.or([eb('secret_fingerprint', 'is', null), eb.val(settings.acceptNewSecret)]),
      )
      .execute()
    if (!(await readFingerprint(db))?.equals(own)) throw new StartError(OTHER_SECRET)
    if (stored && !stored.equals(own)) {
      say('Новый APP_SECRET принят: всем нужно войти снова. Уберите ACCEPT_NEW_SECRET.')
    }
    return secret
  })
}

/** Returns the secret of an existing wall. Throws StartError if it is lost, or another wall's. */
export async function readSecret(db: Db, settings: Secret): Promise<string> {
  const secret = await loadSecret(settings, true)
  const stored = await readFingerprint(db)
  if (stored && !stored.equals(deriveKey(secret, 'fingerprint'))) throw new StartError(OTHER_SECRET)
  return secret
}

async function requireSameClock(db: Db): Promise<void> {
  const skew = await measureClockSkew(db)
  if (Math.abs(skew) <= LARGEST_SKEW_MS) return
  const apart = `${skew > 0 ? 'спешат' : 'отстают'} на ${Math.round(Math.abs(skew) / 1000)} с`
  throw new StartError(
    `Часы этой машины ${apart} против часов базы данных: коды и сессии не действовали бы. ` +
      'Настройте время на обеих машинах (timedatectl set-ntp true) и запустите сервер снова.',
  )
}

/** Returns the fingerprint of the wall's secret; null before the first start. */
export async function readFingerprint(db: Db): Promise<Buffer | null> {
  const row = await db.selectFrom('installation').select('secret_fingerprint').executeTakeFirst()
  return row?.secret_fingerprint ?? null
}

async function loadSecret({ appSecret, dataDir }: Secret, mustExist: boolean): Promise<string> {
  if (appSecret !== undefined) return appSecret
  if (!mustExist || (await readStoredSecret(dataDir)) !== undefined) return loadAppSecret(dataDir)
  throw new StartError(
    `Секрет ${join(dataDir, 'app-secret')} потерян, а база данных создана с ним. Верните файл из копии; ` +
      'если его больше нет, запустите сервер один раз с ACCEPT_NEW_SECRET=1: всем придётся войти снова.',
  )
}

const OTHER_SECRET =
  'APP_SECRET: с этой базой данных работали с другим секретом; у всех узлов он общий. Верните прежний; ' +
  'если его сменили намеренно, запустите сервер один раз с ACCEPT_NEW_SECRET=1: всем придётся войти снова.'

export const OLDEST_POSTGRES = 15

/** Throws StartError if PostgreSQL is too old, or the database cannot hold a wall. */
export function requireSuitableDatabase(url: string): Promise<void> {
  return withStartDatabase(url, async ({ db }) => {
    const major = await readPostgresMajor(db)
    if (Number(major) < OLDEST_POSTGRES) {
      throw new StartError(
        `DATABASE_URL: там PostgreSQL ${major}, а нужна ${OLDEST_POSTGRES} или новее. Обновите сервер базы данных`,
      )
    }
    const fault = faultOf(await readDatabaseCharacter(db))
    if (fault !== undefined) throw new StartError(`DATABASE_URL: ${fault}`)
  })
}

/** What a session cannot set. */
async function readDatabaseCharacter(db: Db) {
  const { rows: shown } = await sql<{ server_encoding: string }>`SHOW server_encoding`.execute(db)
  // A statement with letters that the encoding lacks would fail.
  const isUtf8 = shown[0]?.server_encoding === 'UTF8'
  const lowersRussian = isUtf8 ? sql`lower('Ж') = 'ж'` : sql`false`
  const { rows } = await sql<{
    encoding: string
    /** Whether search can tell Russian letters; PostgreSQL 17 and newer can in every locale. */
    is_russian: boolean
    is_new: boolean
    is_replica: boolean
    has_schema: boolean
    search_path: string
    role: string
    database: string
  }>`
    SELECT current_setting('server_encoding') AS encoding,
      ${lowersRussian} OR current_setting('server_version_num')::int >= 170000 AS is_russian,
      to_regclass('kysely_migration') IS NULL AS is_new,
      current_setting('session_replication_role') = 'replica' AS is_replica,
      current_schema() IS NOT NULL AS has_schema, current_setting('search_path') AS search_path,
      quote_ident(session_user) AS role, quote_ident(current_database()) AS database`.execute(db)
  return rows[0]
}

function faultOf(of: Awaited<ReturnType<typeof readDatabaseCharacter>>): string | undefined {
  if (of === undefined) return undefined
  const { encoding, is_russian, is_new, is_replica, has_schema, search_path, role, database } = of
  const other =
    `Создайте другую базу: CREATE DATABASE имя OWNER ${role} ENCODING 'UTF8' ` +
    `LC_COLLATE 'C' LC_CTYPE 'C.UTF-8' TEMPLATE template0`
  if (encoding !== 'UTF8') {
    return `база данных в кодировке ${encoding}, а нужна UTF8, и сменить её у готовой базы нельзя. ${other}`
  }
  // The doctor warns of a wall that such a database already holds.
  if (!is_russian && is_new) {
    return `локаль базы данных не знает русских букв: поиск ничего не нашёл бы. ${other}`
  }
  if (!has_schema) {
    return (
      `search_path (${search_path}) не называет ни одной схемы, которая есть и открыта роли. ` +
      `Верните его: ALTER ROLE ${role} RESET search_path или ` +
      `ALTER DATABASE ${database} RESET search_path; если закрыта схема: GRANT USAGE, CREATE ON SCHEMA public TO ${role}`
    )
  }
  if (is_replica) {
    return (
      'триггеры базы данных выключены (session_replication_role = replica): счётчики стены были бы неверны. ' +
      `Верните их: ALTER ROLE ${role} RESET session_replication_role или ` +
      `ALTER DATABASE ${database} RESET session_replication_role`
    )
  }
  return undefined
}

/** Returns how many connections this node may open. Throws StartError if they are too few. */
export async function requireConnections(
  url: string,
  say: (line: string) => void,
): Promise<number> {
  const { connections, raise } = await withStartDatabase(url, ({ db }) => readConnectionLimit(db))
  const needed = neededConnections()
  if (connections < FEWEST_CONNECTIONS) {
    throw new StartError(
      `DATABASE_URL: соединений с базой данных разрешено ${connections}, а узлу нужно ${needed}, ` +
        `и не меньше ${FEWEST_CONNECTIONS}. Разрешите: ${raise(needed)}`,
    )
  }
  if (connections < needed) {
    say(
      `Внимание: соединений с базой данных разрешено ${connections}, а узлу нужно ${needed}: ` +
        `при наплыве людей вызовы будут ждать. Разрешите больше: ${raise(needed)}.`,
    )
  }
  return connections
}

/** Returns the major version of PostgreSQL, such as '18'. */
export async function readPostgresMajor(db: Db): Promise<string> {
  const { rows } = await sql<{ version: number }>`
    SELECT current_setting('server_version_num')::int / 10000 AS version`.execute(db)
  return String(rows[0]?.version)
}
