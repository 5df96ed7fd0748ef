import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { childrenOf } from '../../server/testing/process/processes.ts'
import type { Clock } from './clock.ts'

const ROOT = join(import.meta.dirname, '../..')
const FOLLOW = join(import.meta.dirname, 'follow-clock.ts')
/** As `npm start` runs it. */
const START = ['--max-semi-space-size=8', '--max-old-space-size=512', 'scripts/start.ts']
/** Where the wall's clients come from: a proxy on this machine, which names their addresses. */
const PROXY = '127.0.0.1/32'
const POLL_MS = 40
const STOP_WITHIN_MS = 20_000
const COMMAND_WITHIN_MS = 180_000

type Options = {
  folder: string
  clock: Clock
  port: number
  metricsPort: number
  env: Record<string, string>
}

/** A job locked for longer was left by a server that was killed. */
const LOCKED = `interval '15 minutes'`

/**
 * How many jobs wait or run, how many of them need care, how many mails are due, whether something
 * will be due soon, and how many real milliseconds the database took to say so.
 */
export type Due = {
  jobs: number
  careful: number
  mails: number
  isSoon: boolean
  tookMs: number
}
export const UNKNOWN: Due = { jobs: 1, careful: 1, mails: 0, isSoon: true, tookMs: 0 }
const LOOK_MS = { often: 8, seldom: 20 }
/** More than passes between two looks at the fastest rate of the clock. */
const SOON = `interval '4 minutes'`
/** Backups take minutes, and nothing is erased if the database answers after ten seconds. */
const CAREFUL = `'back-up', 'remove-expired', 'remove-old-traces'`
const DUE = `SELECT count(*)::int AS jobs,
    (count(*) FILTER (WHERE task_identifier IN (${CAREFUL})))::int AS careful,
    (SELECT count(*)::int FROM outbox WHERE payload IS NOT NULL AND due_at <= now()) AS mails,
    (EXISTS (SELECT FROM graphile_worker.jobs
      WHERE run_at BETWEEN now() AND now() + ${SOON} AND locked_at IS NULL)
      OR EXISTS (SELECT FROM outbox
      WHERE payload IS NOT NULL AND due_at BETWEEN now() AND now() + ${SOON})) AS "isSoon"
  FROM graphile_worker.jobs
  WHERE run_at <= now() AND (locked_at IS NULL OR locked_at > now() - ${LOCKED})`

export type Printed = { code: number; out: string; err: string }

/** Compiles the library by which processes follow the driver's clock. Throws without a compiler. */
function compileClock(folder: string): string {
  const [source, library] = [join(import.meta.dirname, 'clock.c'), join(folder, 'clock.so')]
  execFileSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, source, '-ldl'])
  return library
}

/** The product under the driver's clock: `npm start` with an embedded database, and its commands. */
export class Wall {
  readonly url: string
  readonly log: string
  readonly data: string
  readonly backups: string
  starts = 0
  isUp = false
  readonly #env: NodeJS.ProcessEnv
  #child: ChildProcess | undefined

  constructor({ folder, clock, port, metricsPort, env }: Options) {
    this.url = `http://localhost:${port}`
    this.log = join(folder, 'wall.log')
    this.data = join(folder, 'data')
    this.backups = join(folder, 'backups')
    this.#env = {
      ...process.env,
      ...{ LD_PRELOAD: compileClock(folder), MONTH_CLOCK: clock.path },
      ...{ NODE_OPTIONS: `--import=${FOLLOW}`, PORT: String(port), HOST: '127.0.0.1' },
      ...{ PUBLIC_URL: this.url, DATA_DIR: this.data, BACKUP_DIR: this.backups },
      ...{ METRICS_PORT: String(metricsPort), TRUST_PROXY: PROXY, ...env },
    }
  }

  /** Resolves when the wall can be written to, to the real milliseconds that took. */
  async start(withinMs = 120_000): Promise<number> {
    const began = performance.now()
    const output = openSync(this.log, 'a')
    this.#child = spawn(join(ROOT, 'bin/run-node'), START, {
      ...{ cwd: ROOT, env: this.#env, stdio: ['ignore', output, output] },
    })
    this.#child.once('exit', () => {
      this.isUp = false
    })
    while (!(await this.isReady())) {
      const hasEnded = this.#child.exitCode !== null || this.#child.signalCode !== null
      if (hasEnded || performance.now() - began > withinMs) {
        throw new Error(`the wall does not start: ${readFileSync(this.log, 'utf8').slice(-1500)}`)
      }
      await delay(POLL_MS)
    }
    this.isUp = true
    this.starts++
    return Math.round(performance.now() - began)
  }

  async isReady(): Promise<boolean> {
    return (await this.readiness()) === 200
  }

  /** Returns the status of /readyz; 0 without an answer. */
  async readiness(): Promise<number> {
    const answer = await fetch(`${this.url}/readyz`).catch(() => undefined)
    await answer?.arrayBuffer().catch(() => {})
    return answer?.status ?? 0
  }

  /** Waits for readiness, for so many real milliseconds. Returns how long it took, or undefined. */
  async recover(withinMs: number): Promise<number | undefined> {
    const began = performance.now()
    while (performance.now() - began < withinMs) {
      if (await this.isReady()) return Math.round(performance.now() - began)
      await delay(POLL_MS)
    }
    return undefined
  }

  /** Sends a signal to the server and waits for its end. Returns the real milliseconds. */
  async end(signal: NodeJS.Signals): Promise<number> {
    const [child, began] = [this.#child, performance.now()]
    if (child && child.exitCode === null && child.signalCode === null) {
      const exit = once(child, 'exit')
      child.kill(signal)
      await Promise.race([exit, delay(STOP_WITHIN_MS)])
    }
    return Math.round(performance.now() - began)
  }

  /** Ends the server, and PostgreSQL if the server has left it. */
  async close(): Promise<void> {
    await this.end('SIGTERM')
    await this.end('SIGKILL')
    this.killDatabase('SIGQUIT')
  }

  killDatabase(signal: NodeJS.Signals = 'SIGKILL'): void {
    try {
      const [pid] = readFileSync(join(this.data, 'postgres/postmaster.pid'), 'utf8').split('\n')
      process.kill(Number(pid), signal)
    } catch {
      // It has ended.
    }
  }

  /** Runs a command of the operator, which asks nothing. */
  command(...args: string[]): Promise<Printed> {
    const options = { cwd: ROOT, env: this.#env, timeout: COMMAND_WITHIN_MS, maxBuffer: 1 << 26 }
    return new Promise((resolve) => {
      execFile(join(ROOT, 'bin/vslukh'), args, options, (error, out, err) => {
        const code = typeof error?.code === 'number' ? error.code : error ? -1 : 0
        resolve({ code, out, err })
      })
    })
  }

  async query<Row extends pg.QueryResultRow>(text: string): Promise<Row[]> {
    const client = await this.#connect()
    try {
      return (await client.query<Row>(text)).rows
    } finally {
      await client.end().catch(() => {})
    }
  }

  async #connect(): Promise<pg.Client> {
    const host = join(this.data, 'postgres')
    const client = new pg.Client({ host, port: 5432, user: 'vslukh', database: 'vslukh' })
    client.on('error', () => {})
    await client.connect()
    return client
  }

  /** Tells what is due, at once when a job is queued. */
  async watchJobs(tell: (due: Due) => void, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // Only while the server runs: a reader could keep a restore from replacing the tables.
      const client = this.isUp ? await this.#connect().catch(() => undefined) : undefined
      if (client) await this.#watchBy(client, tell, signal).catch(() => {})
      tell(UNKNOWN)
      await client?.end().catch(() => {})
      await delay(60)
    }
  }

  async #watchBy(client: pg.Client, tell: (due: Due) => void, signal: AbortSignal) {
    let wake = () => {}
    client.on('notification', () => {
      tell(UNKNOWN)
      wake()
    })
    const ended = new Promise<never>((_, reject) => {
      for (const event of ['error', 'end'] as const) client.once(event, reject)
    })
    ended.catch(() => {})
    await client.query('LISTEN "jobs:insert"')
    while (!signal.aborted && this.isUp) {
      const asked = performance.now()
      const { rows } = await client.query<Due>(DUE)
      const due = { ...UNKNOWN, ...rows[0], tookMs: performance.now() - asked }
      tell(due)
      const woken = new Promise<void>((resolve) => {
        wake = resolve
      })
      const isBusy = due.jobs + due.mails > 0 || due.isSoon
      await Promise.race([delay(isBusy ? LOOK_MS.often : LOOK_MS.seldom), woken, ended])
    }
  }

  /** In MiB: what Node and PostgreSQL take, and how many files and connections there are. */
  size(): { node: number; postgres: number; files: number; backends: number } {
    const pid = this.#child?.pid ?? 0
    const numberIn = (path: string, key: string) => {
      try {
        const line = new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(readFileSync(path, 'utf8'))
        return Number(line?.[1] ?? 0) / 1024
      } catch {
        return 0
      }
    }
    const [first = '0'] = readFileSync(join(this.data, 'postgres/postmaster.pid'), 'utf8').split(
      '\n',
    )
    const backends = childrenOf(Number(first))
    const shares = [Number(first), ...backends].map((one) =>
      numberIn(`/proc/${one}/smaps_rollup`, 'Pss'),
    )
    return {
      node: Math.round(numberIn(`/proc/${pid}/status`, 'VmRSS')),
      postgres: Math.round(shares.reduce((sum, share) => sum + share, 0)),
      files: readdirSync(`/proc/${pid}/fd`).length,
      backends: backends.length,
    }
  }
}
