import { addAbortListener } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import {
  Logger,
  type Runner,
  type RunnerOptions,
  run,
  type Task,
  type TaskList,
} from 'graphile-worker'
import { sql } from 'kysely'
import type { Pool } from 'pg'
import type { Queryable } from '../db/database.ts'
import { errorCode } from '../db/database-errors.ts'

// graphile-worker prints the errors of workers in this way, although its logger gets them too.
console.trace = () => {}

/** Before the process ends, the signal aborts and the promise rejects. */
export type Ending = { signal: AbortSignal; stopping: Promise<never> }

/** A period, which begins `atMinute` minutes after the hour or midnight (UTC); 0 unless given. */
type Schedule = { everyMinutes: number; atMinute?: number }

export type Job = Partial<Schedule> & { run: (ending: Ending) => Promise<void> }
export type Jobs = Record<string, Job>

type JobsLog = {
  error(details: { err?: Error }, message: string): void
  debug(details: object, message: string): void
}

type JobsOptions = { jobs: Jobs; log: JobsLog }

/** Two more than the senders of mails, so that a mail server that hangs holds up no other job. */
export const CONCURRENT_JOBS = 6
/** How long running jobs may take to end before their signal aborts. */
const FINISH_MS = 3000
const RESTART_MS = 1000
const REMINDER_MS = 60_000

type NewJob = {
  afterMs?: number
  /** A new job replaces a waiting one with the same key. */
  key?: string
}

/** Queues a job. In a transaction, the commit queues it. */
export async function addJob(
  db: Queryable,
  task: string,
  { afterMs = 0, key }: NewJob = {},
): Promise<void> {
  await sql`SELECT graphile_worker.add_job(${task},
    run_at => now() + ${afterMs} * interval '1 millisecond', job_key => ${key ?? null}::text)`.execute(
    db,
  )
}

export async function startJobs(
  pool: Pool,
  { jobs, log }: JobsOptions,
): Promise<{ stop(): Promise<void> }> {
  const logger = new Logger(() => (level, message, meta) => {
    const error = meta?.error ?? meta?.fatalError
    const details = error instanceof Error ? { err: error } : {}
    if (level === 'error') log.error(details, message)
    else log.debug(details, message)
  })
  const options: RunnerOptions = {
    pgPool: pool,
    // Overrides GRAPHILE_WORKER_SCHEMA of the environment, because all SQL names this schema.
    schema: 'graphile_worker',
    taskList: taskListOf(jobs),
    gracefulShutdownAbortTimeout: FINISH_MS,
    parsedCronItems: [],
    logger,
    concurrency: CONCURRENT_JOBS,
    noHandleSignals: true,
    pollInterval: 2000,
    // Without batches, a job that ends while the database is unavailable ends the process.
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
  }
  const stopping = new AbortController()
  const { signal } = stopping
  const ended = keepRunning(await run(options), { options, log, signal })
  void queueRecurring(pool, jobs, signal)
  return {
    stop() {
      stopping.abort()
      return ended
    },
  }
}

function taskListOf(jobs: Jobs): TaskList {
  const tasks = Object.entries(jobs).map(([name, { run }]): [string, Task] => [
    name,
    (_, { abortSignal, abortPromise }) =>
      run({ signal: abortSignal, stopping: abortPromise as Promise<never> }),
  ])
  return Object.fromEntries(tasks)
}

type Running = { options: RunnerOptions; log: JobsLog; signal: AbortSignal }

/** Replaces a runner that ended, or stopped looking for jobs, in an outage, until `signal` aborts. */
async function keepRunning(first: Runner, { options, log, signal }: Running): Promise<void> {
  const logFailure = logOnceAMinute(log, signal)
  const end = async (runner: Runner) => {
    logFailure(await failureOf(runner, signal))
    await runner.stop().catch(() => {})
  }
  let started = Promise.resolve(first)
  for (;;) {
    await started.then(end, logFailure)
    await delay(RESTART_MS, undefined, { signal }).catch(() => {})
    if (signal.aborted) return
    started = run(options)
  }
}

/** Returns a function that logs failures until `signal` aborts, those of one code once a minute. */
function logOnceAMinute(log: JobsLog, signal: AbortSignal): (failure: unknown) => void {
  let last = { code: '', at: Number.NEGATIVE_INFINITY }
  return (failure) => {
    const [code, at] = [errorCode(failure), performance.now()]
    if (signal.aborted || (code === last.code && at - last.at < REMINDER_MS)) return
    last = { code, at }
    log.error(failure instanceof Error ? { err: failure } : {}, 'jobs stopped, will start again')
  }
}

/** Resolves once a runner failed or `signal` aborts, to the error if there was one. */
async function failureOf({ events, promise }: Runner, signal: AbortSignal): Promise<unknown> {
  const { promise: failure, resolve } = Promise.withResolvers<unknown>()
  const end = ({ error }: { error?: unknown }) => resolve(error)
  // After a fatal error the library ends the runner, whose promise hides that error.
  events.once('worker:getJob:error', end).once('pool:fatalError', end)
  using _ = addAbortListener(signal, () => resolve(undefined))
  const error = await Promise.race([promise.catch(() => {}), failure])
  events.off('worker:getJob:error', end).off('pool:fatalError', end)
  return error
}

const ASK_MS = 10_000

/** Queues the jobs of $1 that were last queued in another period; a new job waits for the next. */
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

async function queueRecurring(pool: Pool, jobs: Jobs, signal: AbortSignal): Promise<void> {
  const recurring = Object.entries(jobs)
    .filter(([, { everyMinutes }]) => everyMinutes !== undefined)
    .map(([task, { everyMinutes, atMinute = 0 }]) => ({ task, everyMinutes, atMinute }))
  while (!signal.aborted) {
    await pool.query(QUEUE_DUE, [JSON.stringify(recurring)]).catch(() => {})
    await delay(ASK_MS, undefined, { signal, ref: false }).catch(() => {})
  }
}
