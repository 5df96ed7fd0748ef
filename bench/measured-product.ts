import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { APP_SECRET } from '../e2e/testing/product.ts'
import { startEmbeddedPostgres } from '../server/operations/embedded-postgres/embedded-postgres.ts'
import { endChild, untilPrinted, untilReady } from '../server/testing/process/child-process.ts'
import { freePort } from '../server/testing/process/free-port.ts'
import { cpuOf } from '../server/testing/process/processes.ts'
import { type DataSet, seed, signInUsers, TOKEN_SECONDS } from './data-set.ts'

const ROOT = join(import.meta.dirname, '..')
/** The server has a core for itself; the load and PostgreSQL have the other. */
export const SERVER_CORE = 0
export const LOAD_CORE = 1

export type MeasuredProduct = Awaited<ReturnType<typeof startProduct>>

export type Run = {
  product: MeasuredProduct
  seconds: number
  rounds: number
  /** A part of the names of the scenarios to run. */
  only: string
  dataSet: DataSet
  tokens: string[]
}

type Options = {
  env?: Record<string, string>
  fill?: (databaseUrl: string) => Promise<void>
}

/**
 * Starts the product on a data set, with 400 users signed in, until it is disposed of. DATABASE_URL
 * may name an empty database, which it fills instead of an embedded one.
 */
export async function startFilledProduct(dataSet: DataSet, { env, fill }: Options = {}) {
  await using started = new AsyncDisposableStack()
  const { path: dataDir } = started.use(await mkdtempDisposable(join(tmpdir(), 'vslukh-bench-')))
  const { DATABASE_URL } = process.env
  const postgres = DATABASE_URL
    ? { connectionString: DATABASE_URL, async stop() {} }
    : await startEmbeddedPostgres({ dataDir, say() {} })
  const { connectionString: databaseUrl } = postgres
  const tokens = await seed(databaseUrl, dataSet)
    .then(() => fill?.(databaseUrl))
    .then(() => signInUsers(databaseUrl))
    .finally(postgres.stop)
  const product = await startProduct(dataDir, env)
  started.defer(product.stop)
  return Object.assign(started.move(), { product, databaseUrl, tokens })
}

/** Starts the product as an operator does. `readyMs` is how long that took. */
export async function startProduct(dataDir: string, env?: Record<string, string>) {
  const port = await freePort()
  const began = performance.now()
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const server = spawn('sh', ['-c', scripts.start], {
    cwd: ROOT,
    env: {
      ...process.env,
      DATA_DIR: dataDir,
      APP_SECRET,
      PORT: String(port),
      RATE_LIMIT_SCALE: '100000',
      ACCESS_TOKEN_SECONDS: String(TOKEN_SECONDS),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  await untilReady(server)
  const readyMs = performance.now() - began
  return { ...observe(server), pid: server.pid, url: `http://127.0.0.1:${port}`, readyMs }
}

/** Starts a script of this folder on the server's core. Returns the number that it prints. */
export async function startScript(script: string, options: object) {
  const path = join(import.meta.dirname, script)
  const child = spawn(process.execPath, [path, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  pin(child.pid, SERVER_CORE)
  const [line] = await untilPrinted(child, /^.+$/)
  return { number: Number(line), stop: () => endChild(child) }
}

export function pin(pid: number | undefined, core: number): boolean {
  return spawnSync('taskset', ['-a', '-cp', String(core), String(pid)]).status === 0
}

function observe(child: ChildProcess) {
  const proc = `/proc/${child.pid}`
  const read = (file: string) => readFileSync(`${proc}/${file}`, 'utf8')
  const memory = (name: string) =>
    Number(new RegExp(`${name}:\\s+(\\d+)`).exec(read('status'))?.[1]) / 1024
  return {
    /** In microseconds. */
    cpu: () => cpuOf(child.pid ?? 0),
    /** The main thread's, in milliseconds. */
    mainCpu: () => Number(read(`task/${child.pid}/schedstat`).split(' ', 1)) / 1e6,
    /** In MiB. */
    rss: () => memory('VmRSS'),
    /** The largest RSS since the start or the last call of `forgetPeak`, in MiB. */
    peakRss: () => memory('VmHWM'),
    forgetPeak: () => writeFileSync(`${proc}/clear_refs`, '5'),
    stop: () => endChild(child),
  }
}
