import { setTimeout as delay } from 'node:timers/promises'
import type { WorkerEvents } from 'graphile-worker'
import type { Client } from 'pg'
import { openClient } from '../db/database.ts'
import { COUNT_NODES } from '../db/nodes.ts'

const CHECK_MS = 5000
const RECONNECT_MS = 1000
const SESSION = { query_timeout: 10_000, keepAlive: true }

/** The first number of the advisory locks that runners hold; the second is the hash of their id. */
const RUNNER_LOCK = 7_203_552

const ALIVE = `SELECT pid, objid::bigint AS runner FROM pg_locks
  WHERE locktype = 'advisory' AND classid = ${RUNNER_LOCK} AND objsubid = 2 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

/**
 * Selects the runners that have jobs and no lock. While nodes of releases without these locks are
 * connected, there are none, because theirs cannot be told from those that are gone.
 */
const SELECT_GONE = `WITH alive AS (${ALIVE})
  SELECT locked_by AS runner, array_agg(task_identifier) AS tasks FROM graphile_worker.jobs
  WHERE locked_by IS NOT NULL
    AND (hashtext(locked_by)::bigint & 4294967295) NOT IN (SELECT runner FROM alive)
    AND (${COUNT_NODES}) <= (SELECT count(DISTINCT pid) FROM alive)
  GROUP BY locked_by`

/**
 * Removes runs that a later run of the same recurring task has replaced while they ran, and that
 * did not end well: graphile-worker neither tries them again nor removes them.
 */
const REMOVE_REPLACED = `DELETE FROM graphile_worker._private_jobs AS job
  USING graphile_worker._private_tasks AS task, graphile_worker._private_known_crontabs AS recurring
  WHERE task.id = job.task_id AND recurring.identifier = task.identifier
    AND job.locked_at IS NULL AND job.attempts >= job.max_attempts`

type WorkersLog = Record<'warn' | 'debug', (details: object, message: string) => void>

/**
 * Holds a lock for each runner of this node, which ends with the process, and makes the jobs of
 * runners without a lock available again: graphile-worker itself would wait for four hours. Removes
 * runs that were replaced.
 */
export class Workers {
  readonly #url: string
  readonly #log: WorkersLog
  readonly #stopping = new AbortController()
  readonly #runners = new Set<string>()
  #ended: Promise<void> | undefined

  constructor(url: string, log: WorkersLog) {
    this.#url = url
    this.#log = log
  }

  watch(events: WorkerEvents): void {
    events.on('pool:create', ({ workerPool }) => this.#runners.add(workerPool.id))
    events.on('pool:release', ({ workerPool }) => this.#runners.delete(workerPool.id))
  }

  start(): void {
    this.#ended = this.#keepConnected(this.#stopping.signal)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#ended
  }

  async #keepConnected(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await using client = await openClient(this.#url, 'vslukh workers', SESSION)
        await this.#release(client, signal)
      } catch (err) {
        this.#log.debug({ err }, 'the locks of runners are lost')
      }
      await delay(RECONNECT_MS, undefined, { signal }).catch(() => {})
    }
  }

  async #release(client: Client, signal: AbortSignal): Promise<void> {
    const held = new Set<string>()
    let suspects: string[] = []
    while (!signal.aborted) {
      for (const runner of this.#runners) {
        if (!held.has(runner)) await client.query(LOCK, [runner])
        held.add(runner)
      }
      const { rows } = await client.query<{ runner: string; tasks: string[] }>(SELECT_GONE)
      // A runner that has just begun, or lost its connection, gets its lock before the next check.
      const gone = rows.filter(({ runner }) => suspects.includes(runner))
      suspects = rows.map(({ runner }) => runner)
      if (gone.length > 0) {
        await client.query('SELECT graphile_worker.force_unlock_workers($1)', [
          gone.map(({ runner }) => runner),
        ])
        const tasks = gone.flatMap((one) => one.tasks)
        this.#log.warn({ tasks }, 'jobs of a server that is gone run again')
      }
      await client.query(REMOVE_REPLACED)
      await delay(CHECK_MS, undefined, { signal }).catch(() => {})
    }
  }
}

const LOCK = `SELECT pg_try_advisory_lock(${RUNNER_LOCK}, hashtext($1))`
