import pg from 'pg'
import { StartError } from '../start/start-failure.ts'

/** Any number that no other lock of the database has. A restore holds the lock alone; servers that start share it. */
export const RESTORE_LOCK = 7_203_551

/**
 * Keeps restores away from the database at `url` until the returned lock is disposed of: a server that starts reads the secret
 * and the tables before a restore could see it. Throws StartError where a restore is under way.
 */
export async function keepRestoresAway(url: string): Promise<AsyncDisposable> {
  const client = new pg.Client({ connectionString: url, application_name: 'vslukh start' })
  client.on('error', () => {})
  await client.connect()
  const sql = `SELECT pg_try_advisory_lock_shared(${RESTORE_LOCK}) AS is_ours`
  const { rows } = await client.query(sql)
  if (rows[0].is_ours) return { [Symbol.asyncDispose]: () => client.end() }
  await client.end()
  throw new StartError(
    'Эту базу сейчас восстанавливают из копии (vslukh restore). Дождитесь конца и запустите сервер снова.',
  )
}
