import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, inject, onTestFinished, test } from 'vitest'
import { createDatabase, withDatabase } from '../../server/testing/databases.ts'
import { EMAIL, run, startWall, temporaryFolder } from './wall-commands.ts'

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
