import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { runMigrations as migrateQueue } from 'graphile-worker'
import { Migrator } from 'kysely/migration'
import { StartError } from '../errors/start-error.ts'
import { type MarkedMigration, noteAdditive, readAppliedMigrations } from './applied-migrations.ts'
import { type Db, type StartDatabase, withStartDatabase } from './database.ts'
import { errorCode } from './database-errors.ts'
import * as product from './migrations/001-product.ts'
import * as posts from './migrations/002-posts.ts'
import * as mailboxes from './migrations/003-mailboxes.ts'
import * as account from './migrations/004-account.ts'
import * as installation from './migrations/005-installation.ts'
import * as moderation from './migrations/006-moderation.ts'
import * as accountDeletion from './migrations/007-account-deletion.ts'
import * as backups from './migrations/008-backups.ts'
import * as mailLog from './migrations/009-mail-log.ts'
import * as people from './migrations/010-people.ts'
import * as wrongCodes from './migrations/011-wrong-codes.ts'
import * as banReasons from './migrations/012-ban-reasons.ts'
import * as hiddenPosts from './migrations/013-hidden-posts.ts'
import * as oneLimiter from './migrations/014-one-limiter.ts'
import * as banNetworks from './migrations/015-ban-networks.ts'
import * as outbox from './migrations/016-outbox.ts'
import * as statesOfUsers from './migrations/017-states-of-users.ts'
import * as answers from './migrations/018-answers.ts'
import * as search from './migrations/019-search.ts'
import * as mutes from './migrations/020-mutes.ts'
import * as notice from './migrations/021-notice.ts'
import * as countPlans from './migrations/022-count-plans.ts'
import * as newAddressMails from './migrations/023-mail-name.ts'
import * as invitations from './migrations/024-invitations.ts'
import * as limitsClock from './migrations/025-limits-clock.ts'
import * as wallCounts from './migrations/026-wall-counts.ts'
import * as postChanges from './migrations/027-post-changes.ts'
import * as chargeLimits from './migrations/029-charge-limits.ts'
import * as mailName from './migrations/030-mail-name.ts'
import * as browsersAndEdits from './migrations/031-browsers-and-edits.ts'
import * as consentAndTokenKey from './migrations/033-consent-and-token-key.ts'
import * as oneVersion from './migrations/034-one-version.ts'
import * as closedSessions from './migrations/035-closed-sessions.ts'

export const MIGRATIONS: Record<string, MarkedMigration> = {
  '001-product': product,
  '002-posts': posts,
  '003-mailboxes': mailboxes,
  '004-account': account,
  '005-installation': installation,
  '006-moderation': moderation,
  '007-account-deletion': accountDeletion,
  '008-backups': backups,
  '009-mail-log': mailLog,
  '010-people': people,
  '011-wrong-codes': wrongCodes,
  '012-ban-reasons': banReasons,
  '013-hidden-posts': hiddenPosts,
  '014-one-limiter': oneLimiter,
  '015-ban-networks': banNetworks,
  '016-outbox': outbox,
  '017-states-of-users': statesOfUsers,
  '018-answers': answers,
  '019-search': search,
  '020-mutes': mutes,
  '021-notice': notice,
  '022-count-plans': countPlans,
  '023-mail-name': newAddressMails,
  '024-invitations': invitations,
  '025-limits-clock': limitsClock,
  '026-wall-counts': wallCounts,
  '027-post-changes': postChanges,
  '029-charge-limits': chargeLimits,
  '030-mail-name': mailName,
  '031-browsers-and-edits': browsersAndEdits,
  '033-consent-and-token-key': consentAndTokenKey,
  '034-one-version': oneVersion,
  '035-closed-sessions': closedSessions,
}

type Options = {
  migrations?: Record<string, MarkedMigration>
  say?: (line: string) => void
  signal?: AbortSignal
  /** For how long a migration keeps trying to get a lock. */
  lockWaitMs?: number
  /** A schema besides the product's, which the search path of `url` names: it gets no queue. */
  schema?: string
}

const LOCK_WAIT_MS = 60_000
/** Readers that queued behind a migration pass in this pause. */
const PAUSE_MS = 1000
/** lock_not_available, deadlock_detected. */
const LOCKED = ['55P03', '40P01']

/**
 * Nodes wait for each other. Migrations wait 3 s at a time for a table in use, so that readers pass
 * in between. Throws StartError after a minute of that, and for a newer database.
 */
export async function migrate(
  url: string,
  {
    migrations = MIGRATIONS,
    say = () => {},
    signal,
    lockWaitMs = LOCK_WAIT_MS,
    schema,
  }: Options = {},
): Promise<void> {
  const since = performance.now()
  for (let tries = 1; ; tries++) {
    try {
      return await withStartDatabase(url, (database) => migrateOnce(database, migrations, schema))
    } catch (cause) {
      if (!LOCKED.includes(errorCode(cause))) throw cause
      if (performance.now() - since > lockWaitMs) throw new StartError(blocked(), { cause })
    }
    if (tries === 1) say('Ждём, пока другие освободят таблицы базы данных…')
    await delay(PAUSE_MS, undefined, { signal })
  }
}

/** Throws StartError if a migration of this version is missing, or a newer one is not additive. */
export async function requireMigrated(db: Db): Promise<void> {
  const { missing, breaking } = await readAppliedMigrations(db, Object.keys(MIGRATIONS))
  if (missing.length === 0 && breaking.length === 0) return
  throw new StartError(
    'База данных другой версии. Запустите сервер той же версии, что эта команда: он обновит базу.',
  )
}

async function migrateOnce(
  { db, pool }: StartDatabase,
  migrations: Record<string, MarkedMigration>,
  schema?: string,
): Promise<void> {
  if (await isNewer(db, Object.keys(migrations))) return
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => noteAdditive(migrations) },
    ...(schema !== undefined && { migrationTableSchema: schema }),
  })
  const { error, results = [] } = await migrator.migrateToLatest()
  if (error) throw error
  if (schema === undefined) await migrateQueue({ pgPool: pool })
  if (results.length > 0)
    await db.updateTable('installation').set({ version: productVersion() }).execute()
}

/** Whether a newer version has migrated the database. Throws StartError if that breaks this one. */
async function isNewer(db: Db, names: string[]): Promise<boolean> {
  const { missing, additive, breaking } = await readAppliedMigrations(db, names)
  const isNewer = additive.length + breaking.length > 0
  if (breaking.length === 0 && (!isNewer || missing.length === 0)) return isNewer
  const row = await db.selectFrom('installation').select('version').executeTakeFirst()
  const unknown = [...breaking, ...additive].join(', ')
  throw new StartError(
    `База новее: нужна версия ${row?.version ?? 'новее этой'}, а запущена ${productVersion()} ` +
      `(в базе есть ${unknown}). Поставьте нужную версию или верните базу из копии, сделанной до обновления.`,
  )
}

function blocked(): string {
  return (
    'База данных не обновлена: другие запросы держат её таблицы уже минуту. ' +
    'Найдите их (SELECT pid, query FROM pg_stat_activity), дождитесь конца или прервите ' +
    '(SELECT pg_terminate_backend(pid)) и запустите сервер снова.'
  )
}

export function productVersion(): string {
  const text = readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8')
  return JSON.parse(text).version
}
