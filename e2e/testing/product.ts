import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject, onTestFinished } from 'vitest'
import { codeOf } from '../../server/features/codes/codes.mail.ts'
import { deriveKey } from '../../server/kernel/config/app-secret.ts'
import { endChild, untilReady } from '../../server/testing/child-process.ts'
import { createClient, type TestUser } from '../../server/testing/client.ts'
import { freshDatabase } from '../../server/testing/databases.ts'
import { freePort } from '../../server/testing/free-port.ts'

const ROOT = join(import.meta.dirname, '../..')

/** The secret of products in tests: with it a test derives every code itself and needs no mail. */
export const APP_SECRET = 'a-secret-that-only-tests-know-0123456789'

/** The product as an operator runs it: a process of its own, in a folder of its own. */
export type Product = Awaited<ReturnType<typeof createProduct>>

/** A client for the API of a product that was started with APP_SECRET. */
export type ProductClient = ReturnType<typeof createProductClient>

type Limits = {
  /** How many files the system lets the product open at once. */
  openFiles?: number
  /** The folder of an unpacked release to run with its own Node, if not this checkout. */
  release?: string
}

/**
 * Prepares a folder and a port; `start()` runs the product there, as often as a test likes, with its embedded database
 * unless `env` has DATABASE_URL. The caller removes it.
 */
export async function createProduct(
  env: Record<string, string> = {},
  { openFiles, release }: Limits = {},
) {
  const dataDir = await mkdtemp(join(tmpdir(), 'vslukh-e2e-'))
  const port = await freePort()
  let server: ChildProcess | undefined
  const lines: string[] = []
  const printing = new EventEmitter()

  return {
    url: `http://localhost:${port}`,
    /** For programs to which localhost can mean IPv6 as well. */
    address: `127.0.0.1:${port}`,
    dataDir,
    /** The lines that the product printed, its log included. */
    lines,

    /** Starts the server and waits until it says that it is ready; rejects with what it printed when it ends instead. */
    async start(changes: Record<string, string> = {}): Promise<void> {
      const limit = openFiles === undefined ? '' : `ulimit -n ${openFiles} && `
      const node = release ? join(release, 'node_modules/.bin/node') : process.execPath
      server = spawn('sh', ['-c', `${limit}exec "$0" server/main.ts`, node], {
        cwd: release ?? ROOT,
        env: {
          ...process.env,
          DATA_DIR: dataDir,
          PORT: String(port),
          RATE_LIMIT_SCALE: '1000',
          ...env,
          ...changes,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      await untilReady(server, (line) => {
        lines.push(line)
        printing.emit('line')
      })
    },

    /** Waits for a printed line that matches and returns the first group of the newest one. */
    async printed(pattern: RegExp): Promise<string> {
      for (;;) {
        const found = lines.map((line) => pattern.exec(line)?.[1]).findLast(Boolean)
        if (found) return found
        await once(printing, 'line')
      }
    },

    /** Ends the server with a signal, waits until it is gone and returns its exit code. */
    async stop(signal?: NodeJS.Signals): Promise<number | null> {
      await endChild(server, signal)
      return server?.exitCode ?? null
    },

    async remove(): Promise<void> {
      await this.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

type TestOptions = Limits & {
  env?: Record<string, string>
  /** Gets the product's folder ready before the start. */
  prepare?: (product: Product) => Promise<void>
}

/** Starts a product for one test, with its embedded database unless `env` has DATABASE_URL; removes it after the test. */
export async function startProductForTest({ env, prepare, ...limits }: TestOptions = {}) {
  const product = await createProduct({ APP_SECRET, ACCESS_TOKEN_SECONDS: '3600', ...env }, limits)
  onTestFinished(() => product.remove())
  await prepare?.(product)
  await product.start()
  return { product, client: createProductClient(product) }
}

/** Creates a database on the PostgreSQL that the run's tests share, for one test; returns its URL. */
export async function databaseForTest(): Promise<string> {
  const database = await freshDatabase(inject('databaseUrl'))
  onTestFinished(() => database.drop())
  return database.url
}

/** A client that signs in with derived codes. */
export function createProductClient({ url }: { url: string }) {
  return createClient(url, { check() {}, codeFor })
}

/** The code of an operation, as a product with APP_SECRET derives it. */
function codeFor(operationId: string): string {
  return codeOf(operationId, deriveKey(APP_SECRET, 'codes'))
}

/** Registers `count` new users, one after another. */
export async function signUpUsers({ signUp }: ProductClient, count: number): Promise<TestUser[]> {
  const users: TestUser[] = []
  while (users.length < count) users.push(await signUp())
  return users
}
