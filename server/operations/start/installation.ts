import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { deriveKey, hasStoredSecret, loadAppSecret } from '../../kernel/config/app-secret.ts'
import type { Config } from '../../kernel/config/config.ts'
import { clockSkew, LARGEST_SKEW_MS } from '../../kernel/db/clock.ts'
import { type StartDatabase, withStartDatabase } from '../../kernel/db/database.ts'
import { StartError } from '../../kernel/errors/app-error.ts'

type Known = Pick<Config, 'appSecret' | 'acceptNewSecret' | 'dataDir'>

/**
 * Throws StartError if DATA_DIR has a secret but no database: the disk is not mounted, and a first
 * start would create an empty wall. That start creates the secret last.
 */
export async function refuseLostDatabase({ appSecret, dataDir }: Known): Promise<void> {
  const cluster = join(dataDir, 'postgres')
  if (appSecret !== undefined || existsSync(cluster) || !(await hasStoredSecret(dataDir))) return
  throw new StartError(
    `В ${dataDir} есть секрет (app-secret), но нет базы данных (postgres), для которой он создан. ` +
      'Подключите её диск или верните её из копии; чтобы начать новую стену, удалите app-secret.',
  )
}

/**
 * Compares clocks, and the secret with its fingerprint. Returns the secret, which the first start
 * creates. Throws StartError where they differ, the clocks by more than 60 s.
 */
export function openInstallation(
  url: string,
  known: Known,
  say: (line: string) => void,
): Promise<string> {
  return withStartDatabase(url, async (database) => {
    await requireSameClock(database)
    const stored = await readFingerprint(database)
    if (stored && known.appSecret === undefined && !known.acceptNewSecret) {
      await requireStoredSecret(known.dataDir)
    }
    const secret = known.appSecret ?? (await loadAppSecret(known.dataDir))
    const own = deriveKey(secret, 'fingerprint')
    await storeFingerprint(database, own, known.acceptNewSecret)
    const current = await readFingerprint(database)
    if (!current?.equals(own)) throw new StartError(otherSecret())
    if (stored && !stored.equals(own)) {
      say('Новый APP_SECRET принят: всем нужно войти снова. Уберите ACCEPT_NEW_SECRET.')
    }
    return secret
  })
}

/** Returns the secret of a wall that has been started before. Throws StartError like the start. */
export async function readSecret(
  db: StartDatabase['db'],
  { appSecret, dataDir }: Pick<Known, 'appSecret' | 'dataDir'>,
): Promise<string> {
  if (appSecret === undefined) await requireStoredSecret(dataDir)
  const secret = appSecret ?? (await loadAppSecret(dataDir))
  const stored = await readFingerprint({ db })
  if (stored && !stored.equals(deriveKey(secret, 'fingerprint')))
    throw new StartError(otherSecret())
  return secret
}

async function requireSameClock({ db }: StartDatabase): Promise<void> {
  const skew = await clockSkew(db)
  if (Math.abs(skew) <= LARGEST_SKEW_MS) return
  const apart = `${skew > 0 ? 'спешат' : 'отстают'} на ${Math.round(Math.abs(skew) / 1000)} с`
  throw new StartError(
    `Часы этой машины ${apart} против часов базы данных: коды и сессии не действовали бы. ` +
      'Настройте время на обеих машинах (timedatectl set-ntp true) и запустите сервер снова.',
  )
}

/** Returns null before the first start. */
export async function readFingerprint({ db }: Pick<StartDatabase, 'db'>): Promise<Buffer | null> {
  const row = await db.selectFrom('installation').select('secret_fingerprint').executeTakeFirst()
  return row?.secret_fingerprint ?? null
}

async function requireStoredSecret(dataDir: string): Promise<void> {
  if (await hasStoredSecret(dataDir)) return
  throw new StartError(
    `Секрет ${join(dataDir, 'app-secret')} потерян, а база данных создана с ним. Верните файл из копии; ` +
      'если его больше нет, запустите сервер один раз с ACCEPT_NEW_SECRET=1: всем придётся войти снова.',
  )
}

/** Of two first starts with different secrets at once, one is refused. */
async function storeFingerprint({ db }: StartDatabase, own: Buffer, overwrite: boolean) {
  await db
    .updateTable('installation')
    .set({ secret_fingerprint: own })
    .where((eb) => eb.or([eb('secret_fingerprint', 'is', null), sql<boolean>`${overwrite}`]))
    .execute()
}

function otherSecret(): string {
  return (
    'APP_SECRET: с этой базой данных работали с другим секретом; у всех узлов он общий. Верните прежний; ' +
    'если его сменили намеренно, запустите сервер один раз с ACCEPT_NEW_SECRET=1: всем придётся войти снова.'
  )
}

export const OLDEST_POSTGRES = 15

/** Throws StartError for an old PostgreSQL: its migrations would fail with an error of syntax. */
export async function requirePostgresVersion(url: string): Promise<void> {
  const major = await withStartDatabase(url, ({ db }) => readPostgresMajor(db))
  if (Number(major) >= OLDEST_POSTGRES) return
  throw new StartError(
    `DATABASE_URL: там PostgreSQL ${major}, а нужна ${OLDEST_POSTGRES} или новее. Обновите сервер базы данных`,
  )
}

/** Returns the major version of PostgreSQL, as '18'. */
export async function readPostgresMajor(db: StartDatabase['db']): Promise<string> {
  const { rows } = await sql<{ version: number }>`
    SELECT current_setting('server_version_num')::int / 10000 AS version`.execute(db)
  return String(rows[0]?.version)
}
