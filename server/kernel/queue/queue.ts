import { addAbortListener, EventEmitter } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import {
  Logger,
  type ParsedCronItem,
  parseCronItems,
  type Runner,
  type RunnerOptions,
  run,
  type Task,
  type TaskList,
  type WorkerEvents,
} from 'graphile-worker'
import { sql } from 'kysely'
import type { Pool } from 'pg'
import type { Queryable } from '../db/database.ts'
import { errorCode } from '../db/database-errors.ts'
import { recordFailures } from './failures.ts'
import type { Workers } from './workers.ts'

// graphile-worker prints the errors of workers in this way, although its logger gets them too.
console.trace = () => {}

/** Before the process ends, the signal aborts and the promise rejects. */
export type Ending = { signal: AbortSignal; stopping: Promise<never> }

export type Job = {
  /** When the job recurs (UTC), such as `17 * * * *`. All nodes together queue one run. */
  cron?: string
  /** How late a run is made up for that was missed because no server ran. */
  lateByMs?: number
  /** Whether several runs may go on at once. */
  isConcurrent?: boolean
  /** `dueAt` is the minute for which the run was queued; undefined if it did not recur. */
  run: (ending: Ending, dueAt: Date | undefined) => Promise<void>
}
export type Jobs = Record<string, Job>

type JobsLog = {
  error(details: { err?: Error }, message: string): void
  debug(details: object, message: string): void
}

type JobsOptions = { jobs: Jobs; log: JobsLog; workers: Workers; concurrency: number }
/** How long running jobs may take to end before their signal aborts. */
const FINISH_MS = 3000
const RESTART_MS = 1000
const REMINDER_MS = 60_000
/** From these distances on, cron's timers are not merely early or late: the clock has jumped. */
const JUMP_BACK_MS = 60_000
const JUMP_AHEAD_MS = 3_600_000

type NewJob = {
  afterMs?: number
  /** A new job replaces a waiting one with the same key. */
  key?: string
  /** Whether it may run beside another run of its task. */
  isConcurrent?: boolean
}

/** Queues a job. In a transaction, the commit queues it. */
export async function addJob(
  db: Queryable,
  task: string,
  { afterMs = 0, key, isConcurrent = false }: NewJob = {},
): Promise<void> {
  await sql`SELECT graphile_worker.add_job(${task}, queue_name => ${isConcurrent ? null : task}::text,
    run_at => now() + ${afterMs} * interval '1 millisecond', job_key => ${key ?? null}::text)`.execute(
    db,
  )
}

export async function startJobs(
  pool: Pool,
  { jobs, log, workers, concurrency }: JobsOptions,
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
    parsedCronItems: cronItemsOf(jobs),
    logger,
    concurrency,
    noHandleSignals: true,
    pollInterval: 2000,
    // Without batches, a job that ends while the database is unavailable ends the process.
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
  }
  const stopping = new AbortController()
  const { signal } = stopping
  const start = () => startRunner(options, workers)
  const ended = keepRunning(await start(), { start, log, signal })
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
    (payload, { abortSignal, abortPromise }) =>
      run({ signal: abortSignal, stopping: abortPromise as Promise<never> }, dueAtOf(payload)),
  ])
  return Object.fromEntries(tasks)
}

function dueAtOf(payload: unknown): Date | undefined {
  const { ts } = (payload as { _cron?: { ts?: string } } | null)?._cron ?? {}
  return ts === undefined ? undefined : new Date(ts)
}

function cronItemsOf(jobs: Jobs): ParsedCronItem[] {
  const recurring = Object.entries(jobs).flatMap(([task, { cron, lateByMs, isConcurrent }]) => {
    if (cron === undefined) return []
    const options = {
      // A run that waits is not joined by another, nor put off by it.
      jobKey: task,
      jobKeyMode: 'preserve_run_at' as const,
      ...(!isConcurrent && { queueName: task }),
      ...(lateByMs !== undefined && { backfillPeriod: lateByMs }),
    }
    return [{ task, match: cron, options }]
  })
  return parseCronItems(recurring)
}

async function startRunner(options: RunnerOptions, workers: Workers): Promise<Runner> {
  const events = new EventEmitter() as WorkerEvents
  workers.watch(events)
  recordFailures(events, options.pgPool as Pool)
  await resetFutureRuns(options.pgPool as Pool)
  return run({ ...options, events })
}

/** Cron does nothing until its last run is in the past, which a wrong clock may have set ahead. */
async function resetFutureRuns(pool: Pool): Promise<void> {
  const forget = `UPDATE graphile_worker._private_known_crontabs SET last_execution = $1::timestamptz
    WHERE last_execution > $1::timestamptz + interval '1 minute'`
  // The runner meets an outage too, and reports it.
  await pool.query(forget, [new Date()]).catch(() => {})
}

type Running = { start: () => Promise<Runner>; log: JobsLog; signal: AbortSignal }

/** Replaces a runner that ended, or stopped looking for jobs, in an outage, until `signal` aborts. */
async function keepRunning(first: Runner, { start, log, signal }: Running): Promise<void> {
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
    started = start()
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
  // Cron would wait until the time from which the clock came, or repeat every minute of the jump.
  const endIfJumped = (timer: { currentTimestamp: number; expectedTimestamp: number }) => {
    const jumpMs = timer.currentTimestamp - timer.expectedTimestamp
    if (jumpMs < -JUMP_BACK_MS || jumpMs > JUMP_AHEAD_MS) resolve(new Error('The clock has jumped'))
  }
  events.on('cron:prematureTimer', endIfJumped).on('cron:overdueTimer', endIfJumped)
  using _ = addAbortListener(signal, () => resolve(undefined))
  const error = await Promise.race([promise.catch(() => {}), failure])
  events.off('worker:getJob:error', end).off('pool:fatalError', end)
  events.off('cron:prematureTimer', endIfJumped).off('cron:overdueTimer', endIfJumped)
  return error
}
