import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from '../../server/testing/free-port.ts'
import { runCommand } from '../../server/testing/run-command.ts'
import { findFakeTime } from '../../server/testing/shifted-clock.ts'

/** The moment at which the demo stands still: a Saturday at noon in Moscow. */
export const NOW = new Date('2026-03-14T09:00:00Z')
const SCRIPT = join(import.meta.dirname, '../../scripts/demo.ts')

/** Starts `npm run demo` with its wall clock, and that of its database, frozen at NOW. The caller stops it. */
export async function startFrozenDemo() {
  const clock = {
    TZ: 'UTC',
    LD_PRELOAD: await findFakeTime(),
    FAKETIME: NOW.toISOString().slice(0, 19).replace('T', ' '),
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    NO_FAKE_STAT: '1',
  }
  const env = { ...process.env, ...clock, PORT: String(await freePort()) }
  const demo = spawn(process.execPath, [SCRIPT], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [url, signInUrl, dataDir] = await readAddresses(demo)
  return {
    url,
    signInUrl,

    /** Runs a command of the operator's on the demo's wall. */
    command: (...args: string[]) => runCommand({ ...clock, DATA_DIR: dataDir }, ...args),

    async stop(): Promise<void> {
      const exit = once(demo, 'exit')
      if (demo.kill('SIGTERM')) await exit
    },
  }
}

/** Waits for the two addresses and the folder that the demo prints; rejects with all that it printed where it ends before. */
async function readAddresses(demo: ChildProcess): Promise<[string, string, string]> {
  const { promise, resolve, reject } = Promise.withResolvers<[string, string, string]>()
  const lines: string[] = []
  for (const stream of [demo.stdout, demo.stderr]) {
    if (!stream) continue
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line)
      const [url, signInUrl] = lines.flatMap((it) => /: (http:\S+)$/.exec(it)?.[1] ?? [])
      const [folder] = lines.flatMap((it) => /^Данные: (\S+)/.exec(it)?.[1] ?? [])
      if (url && signInUrl && folder) resolve([url, signInUrl, folder])
    })
  }
  demo.once('exit', () => reject(new Error(lines.join('\n'))))
  return promise
}
