import { Logger, type Runner, run, type Task } from 'graphile-worker'
import { sql } from 'kysely'
import type { Pool } from 'pg'
import type { Queryable } from './open.ts'

export type JobTask<Payload> = (payload: Payload) => Promise<void>
// biome-ignore lint/suspicious/noExplicitAny: payloads differ by task; each task states its own
export type JobTasks = Record<string, JobTask<any>>

export type JobsLog = {
  error(details: object, message: string): void
  debug(details: object, message: string): void
}

type JobsOptions = {
  tasks: JobTasks
  /** Lines of a crontab (UTC): minute, hour, day, month, weekday, task. */
  crontab: string
  log: JobsLog
}

const CONCURRENT_JOBS = 4

/** Queues a job; within a transaction it exists once that commits. It runs now, or at `runAt`. */
export async function addJob(
  db: Queryable,
  task: string,
  { payload, runAt }: { payload: object; runAt?: Date },
): Promise<void> {
  await sql`SELECT graphile_worker.add_job(
    ${task}, ${JSON.stringify(payload)}::json, run_at => ${runAt ?? null}::timestamptz
  )`.execute(db)
}

/** Runs queued jobs and the crontab until `stop()` of the result, which waits for the jobs at work. */
export async function startJobs(pool: Pool, { tasks, crontab, log }: JobsOptions): Promise<Runner> {
  const logger = new Logger(() => (level, message, meta) => {
    // Job payloads name addresses: only the message and the error leave this place.
    const details = meta?.error instanceof Error ? { err: meta.error } : {}
    if (level === 'error') log.error(details, message)
    else log.debug(details, message)
  })
  return run({
    pgPool: pool,
    taskList: tasks as Record<string, Task>,
    crontab,
    logger,
    concurrency: CONCURRENT_JOBS,
    noHandleSignals: true,
    pollInterval: 2000,
  })
}
