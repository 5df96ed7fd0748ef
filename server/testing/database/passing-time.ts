import { sql } from 'kysely'
import { expect, onTestFinished, vi } from 'vitest'
import type { Db } from '../../kernel/db/database.ts'
import { wakeSenders } from '../../kernel/mail/queue-mail.ts'
import { addJob } from '../../kernel/queue/queue.ts'
import type { TestUser } from '../http/client.ts'
import type { TestApp } from '../test-app.ts'

/**
 * Stops the monotonic clock at the present until the test has finished, so that no limit in memory
 * earns anything back and no cached response ages.
 */
export function stopClock(): void {
  const present = performance.now()
  vi.useFakeTimers({ toFake: ['performance'] })
  // A fake clock begins at zero, before everything that an older app has counted.
  vi.advanceTimersByTime(present)
  onTestFinished(() => void vi.useRealTimers())
}

/** The time of a code begins when its mail has been tried. */
export async function passCodeTime(app: TestApp, seconds: number): Promise<void> {
  const queued = app.db.selectFrom('codes').where('mail_state', '=', 'queued')
  await expect.poll(() => queued.select('id').execute()).toEqual([])
  await passRequestTime(app, seconds)
}

/** Makes the rows of a table older: these times become earlier. */
export async function passTime(
  db: Db,
  seconds: number,
  table: string,
  ...columns: string[]
): Promise<void> {
  const changes = columns.map(
    (column) => sql`${sql.ref(column)} = ${sql.ref(column)} - ${seconds} * interval '1 second'`,
  )
  await db.transaction().execute(async (tx) => {
    // The rows are changed in any order: who has locked one, and then writes it, might wait for them.
    await sql`LOCK TABLE ${sql.table(table)} IN EXCLUSIVE MODE`.execute(tx)
    await sql`UPDATE ${sql.table(table)} SET ${sql.join(changes)}`.execute(tx)
  })
}

/** Makes every one-time operation older, even if its mail was not sent. */
export function passRequestTime({ db }: TestApp, seconds: number): Promise<void> {
  return passTime(db, seconds, 'codes', 'expires_at', 'mailed_at')
}

export function passSessionTime({ db }: TestApp, seconds: number): Promise<void> {
  return passTime(db, seconds, 'sessions', 'created_at', 'used_at', 'rotated_at')
}

/** Makes every waiting mail due. */
export async function retryMails({ db, sql }: TestApp): Promise<void> {
  await sql`UPDATE outbox SET due_at = now() WHERE payload IS NOT NULL`
  await wakeSenders(db)
}

export function passLimitTime({ db }: Pick<TestApp, 'db'>, seconds: number): Promise<void> {
  return passTime(db, seconds, 'rate_limits', 'arrival', 'charged_at')
}

/** Sets the limits on codes back, and no others. */
export async function forgetCodes({ sql }: TestApp): Promise<void> {
  await sql`DELETE FROM rate_limits WHERE key LIKE 'code-%'`
}

/** Makes calls that the limits allow. For these limits at most a second passes meanwhile. */
export async function inNoTime<T>(
  app: Pick<TestApp, 'db'>,
  makeCalls: () => Promise<T>,
): Promise<T> {
  const began = performance.now()
  const made = await makeCalls()
  const seconds = (performance.now() - began) / 1000
  await passLimitTime(app, Math.min(0, 1 - seconds))
  return made
}

export async function passMailLimitTime(app: TestApp, seconds: number): Promise<void> {
  await passLimitTime(app, seconds)
  await passCodeTime(app, seconds)
}

/** The journal is append-only, and what is stored about migrations and jobs has no age. */
const AGELESS = ['journal', 'kysely_migration', 'recurring_jobs', 'consent_texts']

/** Makes everything so many days older, and then erases what has expired. */
export async function passDays({ db, sql }: TestApp, days: number): Promise<void> {
  const tables = await sql<{ name: string; columns: string[] }>`
    SELECT table_name AS name, array_agg(column_name::text) AS columns
    FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
    WHERE table_schema = 'public' AND table_type = 'BASE TABLE'
      AND data_type = 'timestamp with time zone' AND table_name <> ALL (${AGELESS})
    GROUP BY 1`
  for (const { name, columns } of tables) await passTime(db, days * 86_400, name, ...columns)
  await addJob(db, 'remove-expired')
  const waiting = () => sql`SELECT FROM graphile_worker.jobs
    WHERE task_identifier IN ('remove-expired', 'purge-posts')`
  await expect.poll(waiting).toEqual([])
}

/** The limits of accounts under a day old do not apply to the new user. */
export async function signUpEarlier(app: TestApp): Promise<TestUser> {
  const user = await app.signUp()
  await app.sql`UPDATE users SET created_at = now() - interval '1 year' WHERE id = ${user.id}`
  return user
}
