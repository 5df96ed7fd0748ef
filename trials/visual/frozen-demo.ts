import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { findFakeTime } from '../../server/testing/database/shifted-clock.ts'
import { endChild, untilPrinted } from '../../server/testing/process/child-process.ts'
import { freePort } from '../../server/testing/process/free-port.ts'
import { runCommand } from '../../server/testing/process/run-command.ts'

/** A Saturday at noon in Moscow. */
export const NOW = new Date('2026-03-14T09:00:00Z')
const SCRIPT = join(import.meta.dirname, '../../scripts/demo.ts')

/** Freezes the wall clock of the demo and its database at NOW. The caller stops the demo. */
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
  const lines: string[] = []
  // The demo prints its two addresses before its folder.
  const [, dataDir = ''] = await untilPrinted(demo, /^Данные: (\S+)/, (line) => lines.push(line))
  const [url = '', signInUrl = ''] = lines.flatMap((line) => /: (http:\S+)$/.exec(line)?.[1] ?? [])
  return {
    url,
    signInUrl,

    command: (...args: string[]) => runCommand({ ...clock, DATA_DIR: dataDir }, ...args),
    stop: () => endChild(demo),
  }
}
