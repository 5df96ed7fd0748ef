import { setTimeout as sleep } from 'node:timers/promises'
import { Logger, type RunnerOptions, run, type Task } from 'graphile-worker'
import { sql } from 'kysely'
import type { Pool } from 'pg'
import type { Queryable } from '../db/database.ts'

/** Does one job. `stopping` rejects when the process is about to end: what waits for others should give up then. */
type JobTask<Payload> = (payload: Payload, stopping: Promise<never>) => Promise<void>
// biome-ignore lint/suspicious/noExplicitAny: payloads differ by task; each task states its own
export type JobTasks = Record<string, JobTask<any>>

type JobsLog = {
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
/** Jobs at work get this long to finish before they are told to give up. */
const FINISH_MS = 3000
/** Past any pause between the tries of a job. */
const LONGEST_WAIT_SECONDS = 300
/** The crontab's clock may be so far from its next minute before it is set anew: back, or ahead. */
const CRON_AHEAD_MS = 120_000
const CRON_BEHIND_MS = 86_400_000
/** A runner that the database failed is replaced after this. */
const RESTART_MS = 1000

/** Queues a job; within a transaction it exists once that commits. It runs now, or after so many milliseconds. */
export async function addJob(
  db: Queryable,
  task: string,
  { payload, afterMs = 0 }: { payload: object; afterMs?: number },
): Promise<void> {
  await sql`SELECT graphile_worker.add_job(
    ${task}, ${JSON.stringify(payload)}::json, run_at => now() + ${afterMs} * interval '1 millisecond'
  )`.execute(db)
}

/**
 * Lets others take the jobs of some tasks that one worker has held for `heldSeconds`, longer than any of them takes: its
 * process was killed. Left to itself, the queue gives them out again after four hours. Jobs that a clock which was ahead has
 * put off, farther than any is put off on purpose, run now.
 */
export async function releaseAbandonedJobs(
  db: Queryable,
  tasks: string[],
  heldSeconds: number,
): Promise<void> {
  await sql`SELECT graphile_worker.force_unlock_workers(array_agg(locked_by))
    FROM graphile_worker.jobs
    WHERE task_identifier = ANY(${tasks}) AND (locked_at < now() - ${heldSeconds} * interval '1 second'
      OR locked_at > now() + interval '1 minute')
  `.execute(db)
  await sql`SELECT graphile_worker.reschedule_jobs(array_agg(id), run_at => now())
    FROM graphile_worker.jobs
    WHERE task_identifier = ANY(${tasks}) AND run_at > now() + ${LONGEST_WAIT_SECONDS} * interval '1 second'
  `.execute(db)
}

/** Lets the crontab run again that a clock which was ahead has marked as done until then. */
export async function forgetFutureCrons(db: Queryable): Promise<void> {
  await sql`UPDATE graphile_worker._private_known_crontabs SET last_execution = NULL
    WHERE last_execution > now() + interval '2 minutes'`.execute(db)
}

/** Runs queued jobs and the crontab until `stop()` of the result, which waits for the jobs at work. */
export async function startJobs(
  pool: Pool,
  { tasks, crontab, log }: JobsOptions,
): Promise<{ stop(): Promise<void> }> {
  const logger = new Logger(() => (level, message, meta) => {
    // Job payloads name addresses: only the message and the error leave this place.
    const details = meta?.error instanceof Error ? { err: meta.error } : {}
    if (level === 'error') log.error(details, message)
    else log.debug(details, message)
  })
  return keepRunning(log, {
    pgPool: pool,
    taskList: mapTasks(tasks),
    gracefulShutdownAbortTimeout: FINISH_MS,
    crontab,
    logger,
    concurrency: CONCURRENT_JOBS,
    noHandleSignals: true,
    pollInterval: 2000,
    // Without a batch, a job done while the database is away ends the process by an unhandled rejection.
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
  })
}

/**
 * Another runner takes the place of one that the database failed, until `stop()`: such a one ends, or, where its first
 * look at the queue failed, never finds a job again.
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
      await sleep(RESTART_MS, undefined, { signal: stopping.signal }).catch(() => {})
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

/** Starts a runner; `failed` settles when it has ended, could not look into the queue, or saw the clock jump. */
async function begin(options: RunnerOptions) {
  const runner = await run(options)
  const { promise: blind, resolve } = Promise.withResolvers<void>()
  runner.events.once('worker:getJob:error', () => resolve())
  // Left to itself, the crontab would wait until the time comes again, or catch up minute by minute.
  const looksAtClock = (cron: { currentTimestamp: number; expectedTimestamp: number }) => {
    const late = cron.currentTimestamp - cron.expectedTimestamp
    if (late < -CRON_AHEAD_MS || late > CRON_BEHIND_MS) resolve()
  }
  runner.events.on('cron:prematureTimer', looksAtClock).on('cron:overdueTimer', looksAtClock)
  return {
    failed: Promise.race([runner.promise.catch(() => {}), blind]),
    // A runner that has ended by itself refuses to be stopped.
    stop: () => runner.stop().catch(() => {}),
  }
}

function mapTasks(tasks: JobTasks): Record<string, Task> {
  const entries = Object.entries(tasks).map(([name, task]): [string, Task] => [
    name,
    (payload, { abortPromise }) => task(payload, abortPromise as Promise<never>),
  ])
  return Object.fromEntries(entries)
}
