import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { deriveCode } from '../../server/features/codes/codes.mail.ts'
import { deriveKey } from '../../server/kernel/config/app-secret.ts'
import { createClient } from '../../server/testing/http/client.ts'
import { endChild, untilReady } from '../../server/testing/process/child-process.ts'
import { freePort } from '../../server/testing/process/free-port.ts'

const ROOT = join(import.meta.dirname, '../..')

/** The host in the product's address. Unless it is localhost, plain http is no secure context. */
const HOST = process.env.WALL_HOST ?? 'localhost'

/** With this secret, a test derives every code itself, and needs no mail. */
export const APP_SECRET = 'a-secret-that-only-tests-know-0123456789'

/** The product as an operator runs it: a process of its own, in a folder of its own. */
export type Product = Awaited<ReturnType<typeof createProduct>>

type Limits = {
  /** The limit of the product's open files. */
  openFiles?: number
  /** The folder of an unpacked release to run with its own Node, if not this checkout. */
  release?: string
}

/**
 * Prepares a folder and a port, with which `start()` can run the product several times. The
 * database is embedded unless `env` has DATABASE_URL. The caller removes the product.
 */
export async function createProduct(
  env: Record<string, string> = {},
  { openFiles, release }: Limits = {},
) {
  const dataDir = await mkdtemp(join(tmpdir(), 'vslukh-e2e-'))
  const port = await freePort()
  const url = `http://${HOST}:${port}`
  const publicUrl = process.env.SETS_PUBLIC_URL ? url : undefined
  let server: ChildProcess | undefined
  const lines: string[] = []
  const printing = new EventEmitter()

  return {
    url,
    publicUrl,
    port,
    /** For programs that may resolve localhost to IPv6, or cannot resolve HOST. */
    address: `127.0.0.1:${port}`,
    dataDir,
    lines,

    /** Resolves when the server is ready; rejects with its output if it exits instead. */
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
          ...(publicUrl && { PUBLIC_URL: publicUrl }),
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

    /** Resolves with the exit code. */
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
  /** Prepares the product's folder before the start. */
  prepare?: (product: Product) => Promise<void>
}

/** Starts a product, and removes it after the test. */
export async function startProductForTest({ env, prepare, ...limits }: TestOptions = {}) {
  const product = await createProduct({ APP_SECRET, ACCESS_TOKEN_SECONDS: '3600', ...env }, limits)
  onTestFinished(() => product.remove())
  await prepare?.(product)
  await product.start()
  return { product, client: createProductClient(product) }
}

/** A client that signs in with derived codes. */
export function createProductClient({ url }: { url: string }, headers?: () => object) {
  return createClient(url, { check() {}, codeFor, headers })
}

export function codeFor(operationId: string): string {
  return deriveCode(operationId, deriveKey(APP_SECRET, 'codes'))
}
