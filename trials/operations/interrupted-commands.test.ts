import { globSync } from 'node:fs'
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { removeLeftovers } from '../../server/operations/backup/backup-folder.ts'
import { isServerOf } from '../../server/operations/embedded-postgres/pid-file.ts'
import { clientForTest } from '../../server/testing/database/database-for-test.ts'
import { executeOn } from '../../server/testing/database/databases.ts'
import { openHangingSmtp } from '../../server/testing/mail/smtp-faults.ts'
import { folderForTest } from '../../server/testing/process/folder-for-test.ts'
import { envOf, runCommand, startCommand } from '../../server/testing/process/run-command.ts'
import { EMAIL, startWall } from '../../server/testing/process/start-wall.ts'
import { appForTest } from '../../server/testing/test-app.ts'

const SOON = { timeout: 30_000 }

/** Starts and stops a wall that has users in its embedded database. Returns its folder. */
async function stoppedWall(): Promise<string> {
  const DATA_DIR = join(await folderForTest(), 'data')
  const wall = await startWall({ DATA_DIR })
  await wall.client.signIn(EMAIL)
  await wall.stop()
  return DATA_DIR
}

/**
 * Starts a command with only these variables. Returns a function that sends a signal and resolves
 * to the exit code and the error output.
 */
function begin(env: Record<string, string>, ...args: string[]) {
  const { child, ended } = startCommand({ env, args })
  onTestFinished(() => void child.kill('SIGKILL'))
  return async (signal: NodeJS.Signals) => {
    child.kill(signal)
    const { code, err } = await ended
    return { code, err }
  }
}

/** Waits until a verification has started its PostgreSQL. Returns its folder and process id. */
async function verifyingPostgres(folder: string): Promise<{ cluster: string; pid: number }> {
  const findPidFile = async () =>
    globSync(join(folder, '.vslukh-verify.*/postgres/postmaster.pid'))[0] ?? ''
  const lines = async () => readFile(await findPidFile(), 'utf8').catch(() => '')
  await expect.poll(lines).toMatch(/^ready/m)
  const cluster = await realpath(join(await findPidFile(), '..'))
  return { cluster, pid: Number.parseInt(await lines(), 10) }
}

test('an interrupted verification leaves neither files nor a PostgreSQL; after a killed one the nightly job removes both', async () => {
  const app = await appForTest()
  const folder = await folderForTest()
  const file = join(folder, 'wall.backup')
  expect(await runCommand(envOf(app), 'backup', file)).toMatchObject({ code: 0 })
  // A verification unpacks beside the backup, because the temporary folder may be in memory.
  const env = { TMPDIR: join(folder, 'none') }
  const end = begin(env, 'verify', file)
  const { cluster, pid } = await verifyingPostgres(folder)
  expect(await end('SIGTERM')).toEqual({ code: 1, err: 'Прервано.\n' })
  expect(await readdir(folder)).toEqual(['wall.backup'])
  expect(await isServerOf(pid, cluster)).toBe(false)

  const kill = begin(env, 'verify', file)
  const left = await verifyingPostgres(folder)
  await kill('SIGKILL')
  expect(await isServerOf(left.pid, left.cluster)).toBe(true)
  await removeLeftovers(folder)
  expect(await readdir(folder)).toHaveLength(2)
  await removeLeftovers(folder, -1)
  expect(await readdir(folder)).toEqual(['wall.backup'])
  // Of a process that has ended and that nobody has waited for, it is empty.
  const commandLine = () => readFile(`/proc/${left.pid}/cmdline`, 'utf8').catch(() => '')
  await expect.poll(commandLine, { timeout: 120_000 }).toBe('')
})

test.each([
  ['backup', [], 'installation'],
  ['user', ['1', 'export'], 'mutes'],
])(
  'an interrupted %s ends while it waits for a table, and leaves no file',
  async (name, words, table) => {
    const app = await appForTest()
    await app.signUp()
    const folder = await folderForTest()
    const holder = await clientForTest(app.databaseUrl)
    await holder.query(`BEGIN; LOCK TABLE ${table}`)
    const end = begin(envOf(app), name, ...words, join(folder, 'file'))
    const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'
    AND application_name = 'vslukh operator' AND datname = current_database()`
    await expect.poll(() => executeOn(app.databaseUrl, waiting), SOON).toHaveLength(1)
    expect(await end('SIGINT')).toEqual({ code: 1, err: 'Прервано.\n' })
    expect(await readdir(folder)).toEqual([])
  },
)

test('an interrupted command stops its database, for which another command waits aloud', async () => {
  const DATA_DIR = await stoppedWall()
  const file = `${DATA_DIR}.backup`
  expect(await runCommand({ DATA_DIR }, 'backup', file)).toMatchObject({ code: 0 })
  const tarpit = await openHangingSmtp('hello', { drips: true })
  onTestFinished(() => tarpit.close())
  const end = begin({ DATA_DIR, SMTP_URL: tarpit.url }, 'doctor')
  await expect.poll(() => tarpit.counts.open).toBe(1)
  expect((await stat(join(DATA_DIR, 'postgres/postmaster.pid'))).isFile()).toBe(true)
  const { child, ended } = startCommand({ env: { DATA_DIR }, args: ['verify', file] })
  let said = ''
  child.stderr?.on('data', (text) => (said += text))
  await expect.poll(() => said).toContain('занята другой командой или сервером')
  const { code, err } = await end('SIGHUP')
  expect((await ended).out).toContain('Проверка последней копии отмечена')
  expect({ code, last: err.trim().split('\n').at(-1) }).toEqual({ code: 1, last: 'Прервано.' })
  await expect(stat(join(DATA_DIR, 'postgres/postmaster.pid'))).rejects.toThrow('ENOENT')
})

test('two commands at once on a stopped wall run one after the other, and leave no database running', async () => {
  const DATA_DIR = await stoppedWall()
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
