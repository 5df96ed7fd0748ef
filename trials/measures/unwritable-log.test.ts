import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { endChild } from '../../server/testing/child-process.ts'
import { databaseForTest } from '../../server/testing/database-for-test.ts'
import { folderForTest, mountForTest } from '../../server/testing/folder-for-test.ts'
import { freePort } from '../../server/testing/free-port.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../..')
const EXIT_MS = 1000
/** More lines than the buffer of the log holds: 1 MiB of some 150 bytes each. */
const MANY_READS = 12_000

/** Starts the server with its log on a file descriptor, or on a pipe that nobody reads any more. */
async function startServer(stderr: number | 'closed pipe', stdout: 'ignore' | 'closed pipe') {
  const DATABASE_URL = await databaseForTest()
  const dataDir = await folderForTest()
  const port = await freePort()
  const server = spawn(process.execPath, ['server/main.ts'], {
    cwd: ROOT,
    env: {
      ...process.env,
      DATA_DIR: dataDir,
      DATABASE_URL,
      APP_SECRET: 'a-secret-that-only-this-test-knows-0123456789',
      PORT: String(port),
      RATE_LIMIT_SCALE: '1000',
    },
    stdio: [
      'ignore',
      stdout === 'closed pipe' ? 'pipe' : stdout,
      stderr === 'closed pipe' ? 'pipe' : stderr,
    ],
  })
  onTestFinished(() => void server.kill('SIGKILL'))
  server.stdout?.destroy()
  server.stderr?.destroy()
  const url = `http://127.0.0.1:${port}`
  const isReady = () =>
    ask(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
  await expect.poll(isReady).toBe(true)
  return { server, url }
}

/**
 * Sends a request on a connection that closes: a stopping server waits for what its clients may
 * still have sent.
 */
function ask(url: string): Promise<Response> {
  return fetch(url, { headers: { connection: 'close' } })
}

/** Reads the wall `times` times, several at once; returns the statuses. */
async function readWall(url: string, times: number): Promise<Set<number>> {
  const seen = new Set<number>()
  let left = times
  const reader = async () => {
    while (left-- > 0) {
      const answer = await ask(`${url}/api/v1/posts`)
      await answer.arrayBuffer()
      seen.add(answer.status)
    }
  }
  await Promise.all(Array.from({ length: 8 }, reader))
  return seen
}

async function expectQuickExit(server: ChildProcess): Promise<void> {
  const asked = performance.now()
  await endChild(server)
  expect(server.exitCode).toBe(0)
  expect(performance.now() - asked).toBeLessThan(EXIT_MS)
}

test('with its log on a full device the server keeps serving, and SIGTERM ends it within a second', async () => {
  const full = openSync('/dev/full', 'w')
  const { server, url } = await startServer(full, 'ignore')
  closeSync(full)
  expect(await readWall(url, 300)).toEqual(new Set([200]))
  await expectQuickExit(server)
})

test('when the readers of its log and messages are gone the server keeps serving, and SIGTERM ends it within a second', async () => {
  const { server, url } = await startServer('closed pipe', 'closed pipe')
  expect(await readWall(url, 300)).toEqual(new Set([200]))
  await expectQuickExit(server)
})

test('when the reader of its log is gone and nothing has been written yet, SIGTERM ends the server within a second', async () => {
  const { server, url } = await startServer('closed pipe', 'ignore')
  expect((await ask(`${url}/api/v1/posts`)).status).toBe(200)
  await expectQuickExit(server)
})

test('when the reader of its log has stopped reading the server keeps serving, and SIGTERM ends it within a second', async () => {
  const pipe = join(await folderForTest(), 'log')
  await run('mkfifo', [pipe])
  // Open for both, so that the pipe has a reader, which never reads.
  const unread = openSync(pipe, constants.O_RDWR)
  const { server, url } = await startServer(unread, 'ignore')
  closeSync(unread)
  expect(await readWall(url, MANY_READS)).toEqual(new Set([200]))
  await expectQuickExit(server)
})

test.runIf(process.getuid?.() === 0)(
  'with the log’s disk full the server keeps serving; once there is room, the log continues in whole lines and states how many are missing',
  async () => {
    const disk = await folderForTest()
    await mountForTest(disk, 'size=64k')
    const file = openSync(join(disk, 'log'), 'a')
    const { server, url } = await startServer(file, 'ignore')
    closeSync(file)
    expect(await readWall(url, MANY_READS)).toEqual(new Set([200]))

    await run('mount', ['-o', 'remount,size=16m', disk])
    const log = () => readFile(join(disk, 'log'), 'utf8')
    await expect.poll(log).toContain('log lines dropped')
    await expectQuickExit(server)
    const lines = (await log()).trimEnd().split('\n')
    const parsed = lines.map((line) => JSON.parse(line))
    const requests = parsed.filter(({ msg }) => msg === 'request').length
    const dropped = parsed.reduce((sum, line) => sum + (line.dropped ?? 0), 0)
    expect(dropped).toBeGreaterThan(0)
    expect(requests + dropped).toBe(MANY_READS)
  },
)
