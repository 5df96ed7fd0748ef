import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'

/** A period, which begins `atMinute` minutes after the hour or midnight (UTC); 0 unless given. */
export type Schedule = { everyMinutes: number; atMinute?: number }

const ASK_MS = 10_000

/**
 * Queues the jobs of $1 that were last queued in another period, by the database's clock: also one
 * that was missed while no server ran, or after a wrong clock. A new job waits.
 */
const QUEUE_DUE = `
  WITH jobs AS (
    SELECT task, floor((extract(epoch FROM now()) / 60 - "atMinute") / "everyMinutes")::bigint AS period
    FROM json_to_recordset($1) AS job (task text, "everyMinutes" integer, "atMinute" integer)
  ), new AS (
    INSERT INTO recurring_jobs (task, period) SELECT task, period FROM jobs ON CONFLICT DO NOTHING
  ), due AS (
    SELECT task, jobs.period FROM recurring_jobs old JOIN jobs USING (task)
    WHERE old.period <> jobs.period FOR UPDATE OF old SKIP LOCKED
  ), begun AS (
    UPDATE recurring_jobs SET period = due.period FROM due
    WHERE recurring_jobs.task = due.task RETURNING recurring_jobs.task
  )
  SELECT graphile_worker.add_job(task) FROM begun`

/** Queues each recurring job once a period, whichever node is the first. Returns what stops it. */
export function queueRecurring(pool: Pool, jobs: Record<string, Partial<Schedule>>): () => void {
  const recurring = Object.entries(jobs)
    .filter(([, { everyMinutes }]) => everyMinutes !== undefined)
    .map(([task, { everyMinutes, atMinute = 0 }]) => ({ task, everyMinutes, atMinute }))
  const stopping = new AbortController()
  const pause = { signal: stopping.signal, ref: false }
  void keepAsking()
  return () => stopping.abort()

  async function keepAsking(): Promise<void> {
    while (!stopping.signal.aborted) {
      // While the database is away there is nothing to do; the next question follows.
      await pool.query(QUEUE_DUE, [JSON.stringify(recurring)]).catch(() => {})
      await delay(ASK_MS, undefined, pause).catch(() => {})
    }
  }
}
