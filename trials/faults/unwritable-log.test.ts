import { execFile, spawn } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { APP_SECRET } from '../../e2e/testing/product.ts'
import { databaseForTest } from '../../server/testing/database/database-for-test.ts'
import { endChild } from '../../server/testing/process/child-process.ts'
import { folderForTest, mountForTest } from '../../server/testing/process/folder-for-test.ts'
import { freePort } from '../../server/testing/process/free-port.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../..')
const EXIT_MS = 1000
/** More lines than the buffer of the log holds: 1 MiB of some 150 bytes each. */
const MANY_READS = 12_000

/** Its log goes to a file descriptor, or log and messages to pipes that nobody reads any more. */
async function startServer(log: number | 'pipe') {
  const port = await freePort()
  const server = spawn(process.execPath, ['server/main.ts'], {
    cwd: ROOT,
    env: {
      ...process.env,
      DATA_DIR: await folderForTest(),
      DATABASE_URL: await databaseForTest(),
      APP_SECRET,
      PORT: String(port),
      RATE_LIMIT_SCALE: '1000',
      // Reads from the cache are logged at this level.
      LOG_LEVEL: 'debug',
    },
    stdio: ['ignore', log === 'pipe' ? 'pipe' : 'ignore', log],
  })
  onTestFinished(() => void server.kill('SIGKILL'))
  if (log !== 'pipe') closeSync(log)
  server.stdout?.destroy()
  server.stderr?.destroy()
  // A stopping server waits for what its clients may still send, so each connection closes.
  const ask = (path: string) =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } })
  const isReady = () => ask('/readyz').then(({ ok }) => ok)
  await expect.poll(() => isReady().catch(() => false)).toBe(true)

  return {
    /** Reads the wall `times` times, several at once. */
    async expectServing(times: number): Promise<void> {
      let left = times
      const read = async () => {
        while (left-- > 0) {
          const answer = await ask('/api/v1/posts')
          await answer.arrayBuffer()
          expect(answer.status).toBe(200)
        }
      }
      await Promise.all(Array.from({ length: 8 }, read))
    },
    async expectQuickExit(): Promise<void> {
      const asked = performance.now()
      await endChild(server)
      expect(server.exitCode).toBe(0)
      expect(performance.now() - asked).toBeLessThan(EXIT_MS)
    },
  }
}

async function openUnreadPipe(): Promise<number> {
  const pipe = join(await folderForTest(), 'log')
  await run('mkfifo', [pipe])
  // Open for both, so that the pipe has a reader, which never reads.
  return openSync(pipe, constants.O_RDWR)
}

test.each([
  ['its log is on a full device', 300, () => openSync('/dev/full', 'w')],
  ['the readers of its log and messages are gone', 300, () => 'pipe' as const],
  ['these readers are gone and it has written nothing yet', 1, () => 'pipe' as const],
  ['the reader of its log has stopped reading', MANY_READS, openUnreadPipe],
])(
  'while %s, the server serves, and SIGTERM ends it within a second',
  async (_, reads, openLog) => {
    const { expectServing, expectQuickExit } = await startServer(await openLog())
    await expectServing(reads)
    await expectQuickExit()
  },
)

test.runIf(process.getuid?.() === 0)(
  'with the log’s disk full the server keeps serving; once there is room, the log continues in whole lines and states how many are missing',
  async () => {
    const disk = await folderForTest()
    await mountForTest(disk, 'size=64k')
    const file = join(disk, 'log')
    const { expectServing, expectQuickExit } = await startServer(openSync(file, 'a'))
    await expectServing(MANY_READS)

    await run('mount', ['-o', 'remount,size=16m', disk])
    await expect.poll(() => readFile(file, 'utf8')).toContain('log lines dropped')
    await expectQuickExit()
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
    const parsed = lines.map((line) => JSON.parse(line))
    const requests = parsed.filter(({ msg }) => msg === 'request').length
    const dropped = parsed.reduce((sum, line) => sum + (line.dropped ?? 0), 0)
    expect(dropped).toBeGreaterThan(0)
    expect(requests + dropped).toBe(MANY_READS)
  },
)
