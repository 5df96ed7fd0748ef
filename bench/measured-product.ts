import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '../server/kernel/db/migrate.ts'
import { startEmbeddedPostgres } from '../server/operations/embedded-postgres/embedded-postgres.ts'
import { endChild, untilPrinted, untilReady } from '../server/testing/child-process.ts'
import { cpuOf } from '../server/testing/processes.ts'
import { type DataSet, seed } from './data-set.ts'
import { pin, SERVER_CORE } from './pin.ts'

const ROOT = join(import.meta.dirname, '..')
export const SECRET = 'the-secret-of-a-benchmark-that-guards-nothing'

type Filled<T> = {
  dataSet: DataSet
  port: number
  env?: Record<string, string>
  /** Runs on the filled database before the product starts. */
  prepare: (databaseUrl: string) => Promise<T>
}

/** Starts the product in a new data folder, filled with a data set, until it is disposed of. */
export async function startFilledProduct<T>({ dataSet, port, env, prepare }: Filled<T>) {
  await using started = new AsyncDisposableStack()
  const dataDir = await mkdtemp(join(tmpdir(), 'vslukh-bench-'))
  started.defer(() => rm(dataDir, { recursive: true, force: true }))
  const prepared = await withDatabase(dataDir, async (url) => {
    await migrate(url)
    await seed(url, dataSet)
    return prepare(url)
  })
  const product = await startProduct(dataDir, port, env)
  started.defer(() => product.stop())
  const running = started.move()
  return { product, prepared, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

/** Runs the database of a data folder without the product. */
async function withDatabase<T>(dataDir: string, work: (url: string) => Promise<T>): Promise<T> {
  const postgres = await startEmbeddedPostgres({ dataDir, say() {}, onLost() {} })
  try {
    return await work(postgres.connectionString)
  } finally {
    await postgres.stop()
  }
}

/** Starts the product as an operator does. `readyMs` is how long that took. */
export async function startProduct(
  dataDir: string,
  port: number,
  env: Record<string, string> = {},
) {
  const began = performance.now()
  const server = spawn(join(ROOT, 'bin/run-node'), startArguments(), {
    cwd: ROOT,
    env: {
      ...process.env,
      DATA_DIR: dataDir,
      APP_SECRET: SECRET,
      PORT: String(port),
      RATE_LIMIT_SCALE: '100000',
      ACCESS_TOKEN_SECONDS: '86400',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  await untilReady(server)
  const readyMs = performance.now() - began
  return { ...observe(server), pid: server.pid, url: `http://127.0.0.1:${port}`, readyMs }
}

function startArguments(): string[] {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  return /^exec bin\/run-node (.*)$/.exec(scripts.start)?.[1]?.split(' ') ?? []
}

/** Starts a script of this folder on the server's core; resolves with its first line. */
export async function startScript(script: string, args: string[]) {
  const path = join(import.meta.dirname, script)
  const child = spawn(process.execPath, [path, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  pin(child.pid, SERVER_CORE)
  const [line] = await untilPrinted(child, /^.+$/)
  return { ...observe(child), line }
}

function observe(child: ChildProcess) {
  const pid = child.pid ?? 0
  return {
    /** In microseconds. */
    cpu: () => cpuOf(pid).own,
    /** The main thread's, in milliseconds. */
    mainCpu: () =>
      Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ', 1)) / 1e6,
    /** In MiB. */
    rss: () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
    stop: () => endChild(child),
  }
}
