import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, inject, onTestFinished, test } from 'vitest'
import { createClient } from '../../server/testing/client.ts'
import { createDatabase, withDatabase } from '../../server/testing/databases.ts'
import { openMailbox } from '../../server/testing/mailbox.ts'
import { startMain } from '../../server/testing/start-main.ts'

const PROGRAM = join(import.meta.dirname, '../../bin/vslukh')
const EMAIL = 'olga@example.org'

type Result = { code: number; out: string; err: string }

/** Runs a command with only these environment variables. */
function run(env: Record<string, string>, ...args: string[]): Promise<Result> {
  const { promise, resolve } = Promise.withResolvers<Result>()
  const options = { env: { PATH: process.env.PATH ?? '', USER: 'masha', ...env } }
  execFile(PROGRAM, args, options, (error, out, err) => {
    resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, out, err })
  })
  return promise
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'vslukh-operations-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

async function startWall(env: Record<string, string>) {
  const mailbox = await openMailbox()
  onTestFinished(() => mailbox.close())
  const started = await startMain({ SMTP_URL: mailbox.url, MAIL_MODE: 'smtp', ...env })
  const url = /^Готово: (\S+)$/m.exec(started.stdout)?.[1]
  if (!url) throw new Error(`${started.stdout}${started.stderr}`)
  const codeFor = () => mailbox.codeFor(EMAIL)
  return { ...started, client: createClient(url, { check() {}, codeFor }) }
}

test('a wall moves from the running embedded database into an own PostgreSQL and back into a stopped embedded one, and its sessions go on', async () => {
  const folder = await temporaryFolder()
  const [first, second, backups] = ['first', 'second', 'backups'].map((name) => join(folder, name))
  if (!first || !second || !backups) throw new Error('three folders')
  await mkdir(backups)
  const wall = await startWall({ DATA_DIR: first })
  const user = await wall.client.signIn(EMAIL)
  const post = await wall.client.publish(user, 'Переезжаю')
  const made = await run({ DATA_DIR: first }, 'backup', backups, '--json')
  expect(made).toMatchObject({ code: 0 })
  const { file } = JSON.parse(made.out)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await run({ DATA_DIR: first }, 'restore', file, '--replace', '--yes')).toMatchObject({
    code: 1,
    err: expect.stringContaining('Остановите'),
  })
  await wall.stop()
  expect(await run({ DATA_DIR: first }, 'restore', file)).toMatchObject({
    code: 1,
    err: expect.stringContaining('--replace'),
  })
  expect(await run({}, 'verify', file)).toMatchObject({
    code: 0,
    out: expect.stringContaining('записей на стене: 1'),
  })

  await createDatabase(inject('databaseUrl'), 'moved')
  const own = {
    DATABASE_URL: withDatabase(inject('databaseUrl'), 'moved'),
    DATA_DIR: second,
    APP_SECRET: (await readFile(join(first, 'app-secret'), 'utf8')).trim(),
  }
  expect(await run(own, 'restore', file)).toMatchObject({ code: 0, err: '' })
  const moved = await startWall(own)
  expect((await moved.client.call('GET', `/posts/${post.id}`)).body.text).toBe('Переезжаю')
  const { status } = await moved.client.call('POST', '/posts', {
    token: user.token,
    body: { text: 'Переехала' },
  })
  expect(status).toBe(201)
  await moved.stop()

  const back = join(backups, 'back.backup')
  expect(await run(own, 'backup', back)).toMatchObject({ code: 0 })
  const third = { DATA_DIR: join(folder, 'third') }
  expect(await run(third, 'restore', back)).toMatchObject({ code: 0 })
  expect(await run(third, 'backup', join(backups, 'stopped.backup'))).toMatchObject({ code: 0 })
  expect(await run(third, 'recount')).toMatchObject({ out: 'Все счётчики верны.\n' })
  const secrets = [first, third.DATA_DIR].map((dir) => readFile(join(dir, 'app-secret'), 'utf8'))
  expect(new Set(await Promise.all(secrets)).size).toBe(1)
  const again = await startWall(third)
  expect((await again.client.call('GET', '/posts')).body.total).toBe(2)
}, 240_000)

test('a disk that fills up during a backup is told in a sentence and leaves no file', async ({
  skip,
}) => {
  skip(process.getuid?.() !== 0, 'only root may mount a small file system')
  const folder = await temporaryFolder()
  const small = join(folder, 'small')
  await mkdir(small)
  const mount = promisify(execFile)
  await mount('mount', ['-t', 'tmpfs', '-o', 'size=4k', 'tmpfs', small])
  onTestFinished(async () => void (await mount('umount', [small])))
  const env = { DATA_DIR: join(folder, 'data') }
  const wall = await startWall(env)
  await wall.client.signIn(EMAIL)
  const full = await run(env, 'backup', join(small, 'wall.backup'))
  expect(full).toMatchObject({ code: 1, err: expect.stringContaining('не осталось места') })
  expect(await readdir(small)).toEqual([])
}, 120_000)
