import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from '../../server/testing/free-port.ts'

const ROOT = join(import.meta.dirname, '../..')
const READY = /^Готово: /

/** The product as an operator runs it: a process of its own with its embedded database, in a folder of its own. */
export type Product = Awaited<ReturnType<typeof installProduct>>

/**
 * Prepares a folder and a port; `start()` runs the product there, as often as a test likes. The system lets it open
 * `openFiles` files at once, where that is given.
 */
export async function installProduct(
  env: Record<string, string> = {},
  { openFiles }: { openFiles?: number } = {},
) {
  const dataDir = await mkdtemp(join(tmpdir(), 'vslukh-e2e-'))
  const port = await freePort()
  let server: ChildProcess | undefined
  const lines: string[] = []
  const printing = new EventEmitter()

  return {
    url: `http://localhost:${port}`,
    dataDir,
    /** What the product printed, its log included. */
    lines,

    /** Starts the server and waits until it says that it is ready; rejects with what it printed when it ends instead. */
    async start(changes: Record<string, string> = {}): Promise<void> {
      const limit = openFiles === undefined ? '' : `ulimit -n ${openFiles} && `
      server = spawn('sh', ['-c', `${limit}exec "$0" server/main.ts`, process.execPath], {
        cwd: ROOT,
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
      await ready(server, lines, printing)
    },

    /** The first group of the newest printed line that matches: waits for one. */
    async printed(pattern: RegExp): Promise<string> {
      for (;;) {
        const found = lines.map((line) => pattern.exec(line)?.[1]).findLast(Boolean)
        if (found) return found
        await once(printing, 'line')
      }
    },

    /** Ends the server with a signal and waits until it is gone; gives its exit code. */
    async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
      if (!server || server.exitCode !== null || server.signalCode !== null) return null
      const exit = once(server, 'exit')
      server.kill(signal)
      const [code] = await exit
      return code
    },

    async remove(): Promise<void> {
      await this.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

async function ready(server: ChildProcess, lines: string[], printing: EventEmitter): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const since = lines.length
  for (const stream of [server.stdout, server.stderr]) {
    if (!stream) continue
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line)
      printing.emit('line')
      if (READY.test(line)) resolve()
    })
  }
  server.once('exit', () => reject(new Error(lines.slice(since).join('\n'))))
  await promise
}
