import { sql } from 'kysely'
import { StartError } from '../errors/app-error.ts'
import { openClient, type Queryable } from './database.ts'

/** The number of the advisory lock that a restore holds alone, and that starting servers share. */
export const RESTORE_LOCK = 7_203_551

/** The schema into which a backup is loaded before its tables move into the product's schema. */
export const SCRATCH_SCHEMA = 'vslukh_restore'

/** Throws StartError after an unfinished restore: an empty wall would begin beside its tables. */
export async function refuseUnfinishedRestore(db: Queryable): Promise<void> {
  const { rows } = await sql<{ is_unfinished: boolean }>`
    SELECT to_regclass('kysely_migration') IS NULL AND current_schema() <> ${SCRATCH_SCHEMA}
      AND to_regnamespace(${SCRATCH_SCHEMA}) IS NOT NULL AS is_unfinished`.execute(db)
  if (!rows[0]?.is_unfinished) return
  throw new StartError(
    'В этой базе не закончено восстановление из копии: оно ещё идёт, или его прервали. ' +
      'Дождитесь конца или повторите: vslukh restore ФАЙЛ.',
  )
}

/** Keeps restores away until it is disposed of. Throws StartError if a restore is running. */
export async function keepRestoresAway(url: string): Promise<AsyncDisposable> {
  const client = await openClient(url, 'vslukh start')
  const sql = `SELECT pg_try_advisory_lock_shared(${RESTORE_LOCK}) AS is_ours`
  const { rows } = await client.query(sql)
  if (rows[0].is_ours) return client
  await client.end()
  throw new StartError(
    'Эту базу сейчас восстанавливают из копии (vslukh restore). Дождитесь конца и запустите сервер снова.',
  )
}
