import { setTimeout as delay } from 'node:timers/promises'
import { Logger, type RunnerOptions, run } from 'graphile-worker'
import { sql } from 'kysely'
import type { Pool } from 'pg'
import type { Queryable } from '../db/database.ts'

/** Runs one job. The signal aborts, and the promise rejects, when the process is about to end: the job should stop then. */
type JobTask<Payload> = (
  payload: Payload,
  ending: { abortSignal: AbortSignal; abortPromise: Promise<void> },
) => Promise<void>
// biome-ignore lint/suspicious/noExplicitAny: payloads differ by task; each task states its own
export type JobTasks = Record<string, JobTask<any>>

type JobsLog = {
  error(details: { err?: Error }, message: string): void
  debug(details: object, message: string): void
}

type JobsOptions = {
  tasks: JobTasks
  /** The lines of a crontab (UTC): minute, hour, day, month, weekday, task. */
  crontab: string
  log: JobsLog
}

const CONCURRENT_JOBS = 4
/** Running jobs have this long to finish before their signal aborts. */
const FINISH_MS = 3000
/** How far the clock may be before or behind the crontab's next minute until the runner is restarted. */
const CRON_AHEAD_MS = 120_000
const CRON_BEHIND_MS = 86_400_000
/** A runner that failed because of the database is replaced after this. */
const RESTART_MS = 1000

type NewJob = {
  payload: object
  /** Milliseconds until it is due; 0 unless given. */
  afterMs?: number
  /** A job takes the place of one with the same key that waits. */
  key?: string
}

/** Queues a job; in a transaction it is queued when that commits. */
export async function addJob(
  db: Queryable,
  task: string,
  { payload, afterMs = 0, key }: NewJob,
): Promise<void> {
  await sql`SELECT graphile_worker.add_job(${task}, ${JSON.stringify(payload)}::json,
    run_at => now() + ${afterMs} * interval '1 millisecond', job_key => ${key ?? null}::text)`.execute(
    db,
  )
}

/** Lets the crontab run again where a clock that was ahead has marked its tasks as done in the future. */
export async function resetFutureCrons(db: Queryable): Promise<void> {
  await sql`UPDATE graphile_worker._private_known_crontabs SET last_execution = NULL
    WHERE last_execution > now() + interval '2 minutes'`.execute(db)
}

/** Runs queued jobs and the crontab until `stop()` of the result is called, which waits for the running jobs. */
export async function startJobs(
  pool: Pool,
  { tasks, crontab, log }: JobsOptions,
): Promise<{ stop(): Promise<void> }> {
  const logger = new Logger(() => (level, message, meta) => {
    // Payloads of jobs contain addresses: only the message and the error are logged.
    const details = meta?.error instanceof Error ? { err: meta.error } : {}
    if (level === 'error') log.error(details, message)
    else log.debug(details, message)
  })
  return keepRunning(log, {
    pgPool: pool,
    taskList: tasks,
    gracefulShutdownAbortTimeout: FINISH_MS,
    crontab,
    logger,
    concurrency: CONCURRENT_JOBS,
    noHandleSignals: true,
    pollInterval: 2000,
    // Without batches, a job that ends while the database is unavailable ends the process by an unhandled rejection.
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
  })
}

/**
 * Replaces each runner that fails because of the database, until `stop()` is called: such a runner ends or, where its first
 * query of the queue failed, never finds a job again.
 */
async function keepRunning(log: JobsLog, options: RunnerOptions) {
  const stopping = new AbortController()
  let runner = await begin(options)
  const replacing = replaceFailed()

  async function replaceFailed(): Promise<void> {
    while (!stopping.signal.aborted) {
      await runner.failed
      await runner.stop()
      if (stopping.signal.aborted) return
      log.error({}, 'jobs stopped, will start again')
      await delay(RESTART_MS, undefined, { signal: stopping.signal }).catch(() => {})
      await begin(options).then(
        (next) => {
          runner = next
        },
        (err) => log.error({ err }, 'jobs did not start'),
      )
    }
    await runner.stop()
  }

  return {
    async stop(): Promise<void> {
      stopping.abort()
      await runner.stop()
      await replacing
    },
  }
}

/** Starts a runner; `failed` resolves when it has ended, could not read the queue, or saw the clock jump. */
async function begin(options: RunnerOptions) {
  const runner = await run(options)
  const { promise: isUseless, resolve } = Promise.withResolvers<void>()
  runner.events.once('worker:getJob:error', () => resolve())
  // Otherwise the crontab would wait until that time comes again, or make up for each missed minute.
  const restartAfterJump = (cron: { currentTimestamp: number; expectedTimestamp: number }) => {
    const late = cron.currentTimestamp - cron.expectedTimestamp
    if (late < -CRON_AHEAD_MS || late > CRON_BEHIND_MS) resolve()
  }
  runner.events
    .on('cron:prematureTimer', restartAfterJump)
    .on('cron:overdueTimer', restartAfterJump)
  return {
    failed: Promise.race([runner.promise.catch(() => {}), isUseless]),
    // A runner that has ended by itself rejects here.
    stop: () => runner.stop().catch(() => {}),
  }
}
