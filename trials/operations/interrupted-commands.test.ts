import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import {
  makeVerifyFolder,
  removeLeftVerifications,
} from '../../server/operations/backup/verify.service.ts'
import { startEmbeddedPostgres } from '../../server/operations/embedded-postgres/embedded-postgres.ts'
import { isServerOf } from '../../server/operations/embedded-postgres/pid-file.ts'
import { folderForTest } from '../../server/testing/folder-for-test.ts'
import { envOf, runCommand, startCommand } from '../../server/testing/run-command.ts'
import { openHangingSmtp } from '../../server/testing/smtp-faults.ts'
import { startTestApp, type TestApp } from '../../server/testing/test-app.ts'
import { EMAIL, startWall } from './wall-commands.ts'

let app: TestApp
let env: Record<string, string>
beforeAll(async () => {
  app = await startTestApp()
  await app.publish(await app.signUp())
  env = envOf(app)
})
afterAll(() => app.close())

/** Starts a command with only these variables. It is killed at the end of the test. */
function begin(own: Record<string, string>, ...args: string[]) {
  const { child, ended } = startCommand({ env: own, args })
  onTestFinished(() => void child.kill('SIGKILL'))
  return {
    /** Sends a signal. Resolves to the exit code and the error output. */
    async end(signal: NodeJS.Signals) {
      child.kill(signal)
      const { code, err } = await ended
      return { code, err }
    },
  }
}

/** Makes a backup of the test wall in a new folder. */
async function backedUp() {
  const folder = await folderForTest()
  const file = join(folder, 'wall.backup')
  expect(await runCommand(env, 'backup', file)).toMatchObject({ code: 0 })
  return { folder, file }
}

/** Waits until a verification has started its PostgreSQL. Returns its folder and process id. */
async function verifyingPostgres(folder: string): Promise<{ cluster: string; pid: number }> {
  let found: { cluster: string; pid: number } | undefined
  await expect
    .poll(async () => {
      const name = (await readdir(folder)).find((entry) => entry !== 'wall.backup') ?? ''
      const cluster = join(folder, name, 'postgres')
      const lines = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')
      if (!/^ready/m.test(lines)) return false
      found = { cluster: await realpath(cluster), pid: Number.parseInt(lines, 10) }
      return true
    })
    .toBe(true)
  if (!found) throw new Error('the poll has found it')
  return found
}

test('an interrupted backup leaves no file', async () => {
  const folder = await folderForTest()
  const holder = new pg.Client({ connectionString: app.databaseUrl })
  await holder.connect()
  onTestFinished(() => holder.end())
  await holder.query('BEGIN; LOCK TABLE likes')
  const command = begin(env, 'backup', folder)
  await expect.poll(() => readdir(folder)).toHaveLength(1)
  const waits = `SELECT FROM pg_stat_activity WHERE application_name = 'vslukh backup' AND wait_event_type = 'Lock'`
  await expect.poll(async () => (await holder.query(waits)).rowCount).toBe(1)
  expect(await command.end('SIGINT')).toEqual({ code: 1, err: 'Прервано.\n' })
  expect(await readdir(folder)).toEqual([])
})

test('an interrupted verification leaves neither files nor a PostgreSQL; after a killed one the nightly job removes both', async () => {
  const { file, folder } = await backedUp()
  // A verification unpacks beside the backup, because the temporary folder may be in memory.
  const env = { TMPDIR: join(folder, 'none') }
  const command = begin(env, 'verify', file)
  const { cluster, pid } = await verifyingPostgres(folder)
  expect(await command.end('SIGTERM')).toEqual({ code: 1, err: 'Прервано.\n' })
  expect(await readdir(folder)).toEqual(['wall.backup'])
  expect(await isServerOf(pid, cluster)).toBe(false)

  const killed = begin(env, 'verify', file)
  const left = await verifyingPostgres(folder)
  await killed.end('SIGKILL')
  expect(await isServerOf(left.pid, left.cluster)).toBe(true)
  await removeLeftVerifications(3_600_000, folder)
  expect(await readdir(folder)).toHaveLength(2)
  await removeLeftVerifications(-1, folder)
  expect(await readdir(folder)).toEqual(['wall.backup'])
  expect(await isServerOf(left.pid, left.cluster)).toBe(false)
})

test('a running verification keeps its folder', async () => {
  const folder = await folderForTest()
  const dataDir = await makeVerifyFolder(folder)
  const postgres = await startEmbeddedPostgres({ dataDir, say() {}, onLost() {} })
  onTestFinished(() => postgres.stop())
  await removeLeftVerifications(-1, folder)
  expect(await readdir(folder)).toHaveLength(1)
  await postgres.stop()
  await removeLeftVerifications(-1, folder)
  expect(await readdir(folder)).toEqual([])
})

test('an interrupted command stops the database that it has started', async () => {
  const DATA_DIR = join(await folderForTest(), 'data')
  const wall = await startWall({ DATA_DIR })
  await wall.client.signIn(EMAIL)
  await wall.stop()
  const tarpit = await openHangingSmtp('hello', { drips: true })
  onTestFinished(() => tarpit.close())
  const command = begin({ DATA_DIR, SMTP_URL: tarpit.url }, 'doctor')
  await expect.poll(() => tarpit.counts.connections).toBe(1)
  expect((await stat(join(DATA_DIR, 'postgres/postmaster.pid'))).isFile()).toBe(true)
  const { code, err } = await command.end('SIGTERM')
  expect({ code, last: err.trim().split('\n').at(-1) }).toEqual({ code: 1, last: 'Прервано.' })
  await expect(stat(join(DATA_DIR, 'postgres/postmaster.pid'))).rejects.toThrow('ENOENT')
})

test('two commands at once on a stopped wall share the database, and the last one stops it', async () => {
  const DATA_DIR = join(await folderForTest(), 'data')
  const wall = await startWall({ DATA_DIR })
  await wall.client.signIn(EMAIL)
  await wall.stop()
  // In each round the commands meet at another moment of the start or the stop.
  const names = Array<string[]>(6).fill(['recount', 'doctor', 'journal']).flat()
  for (const name of names) {
    const both = await Promise.all(
      ['status', name].map((word) => runCommand({ DATA_DIR }, word, '--json')),
    )
    for (const { out, err } of both) {
      expect(JSON.parse(out)).not.toHaveProperty('error')
      expect(err).not.toContain('не отвечает')
    }
    await expect(stat(join(DATA_DIR, 'postgres/postmaster.pid'))).rejects.toThrow('ENOENT')
  }
})
