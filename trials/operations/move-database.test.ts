import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { untilPrinted } from '../../server/testing/process/child-process.ts'
import { folderForTest } from '../../server/testing/process/folder-for-test.ts'
import { freePort } from '../../server/testing/process/free-port.ts'
import { runCommand } from '../../server/testing/process/run-command.ts'
import { EMAIL, startWall } from '../../server/testing/process/start-wall.ts'
import { ROOT, run } from './deploy-file.ts'
import { createPostgres } from './own-postgres.ts'

/** Starts Debian's PostgreSQL 15 with the role and the database of deploy/database.sql. */
async function openTarget(): Promise<string> {
  const { superuser, start } = await createPostgres()
  await start()
  const file = join(ROOT, 'deploy/database.sql')
  for (let runs = 0; runs < 2; runs++) {
    await run('psql', ['-X', '-v', 'ON_ERROR_STOP=1', '-f', file, superuser])
  }
  const url = new URL(superuser)
  url.username = 'vslukh'
  url.pathname = '/vslukh'
  return url.href
}

/** Starts a move and kills it, with the commands that it runs, when it has printed a line. */
async function killAt(line: RegExp, env: Record<string, string>, target: string): Promise<void> {
  const child = spawn(join(ROOT, 'bin/vslukh'), ['move-database', target, '--yes'], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  })
  const kill = () => child.exitCode === null && child.pid && process.kill(-child.pid, 'SIGKILL')
  onTestFinished(() => void (child.signalCode === null && kill()))
  const ended = once(child, 'exit')
  await untilPrinted(child, line)
  kill()
  await ended
}

test('a wall moves from the embedded PostgreSQL to Debian’s 15, even if the move was killed at any step; until then it runs in its former database; an invalid address and one with a password are refused', {
  timeout: 900_000,
}, async () => {
  const DATA_DIR = join(await folderForTest(), 'data')
  const target = await openTarget()
  const move = () => runCommand({ DATA_DIR }, 'move-database', target, '--yes')
  const asBefore = { DATA_DIR, ACCESS_TOKEN_SECONDS: '86400' }
  const wall = await startWall(asBefore)
  const olga = await wall.client.signIn(EMAIL)
  const first = await wall.client.publish(olga, 'До переноса')
  expect(await move()).toMatchObject({ code: 1, err: expect.stringContaining('Сервер работает') })
  await wall.stop()

  const refused = async (...words: string[]) =>
    (await runCommand({ DATA_DIR }, 'move-database', '--yes', ...words)).err
  // Every user of the machine could read the password.
  expect(await refused('postgresql://wall:secret@db.example/wall')).toContain('нужен --url-file')
  expect(await refused('mysql://db.example/wall')).toContain('нужен адрес вида postgresql://')
  expect(await refused('--url-file', '/none')).toContain('/none не прочитан')
  const nowhere = `postgresql://wall@127.0.0.1:${await freePort()}/wall`
  expect(await refused(nowhere)).toContain('База данных не отвечает')
  for (const line of [/Проверяем новую/, /Делаем копию/, /Загружаем/, /Сверяем/]) {
    await killAt(line, { DATA_DIR }, target)
  }
  const again = await startWall(asBefore)
  const second = await again.client.publish(olga, 'Пока переносили')
  await again.stop()
  const moved = await move()
  expect(moved).toMatchObject({ code: 0 })
  expect(moved.out).toMatch(
    /^Стена теперь в postgresql:\/\/vslukh@127\.0\.0\.1:\d+\/vslukh\. Запустите.*rm -r \S+\/postgres\n$/,
  )
  expect(await readFile(join(DATA_DIR, 'postgres/PG_VERSION'), 'utf8')).toBe('18\n')

  const env = { DATA_DIR, DATABASE_URL: target }
  const { client, stop } = await startWall(env)
  for (const { id, text } of [first, second]) {
    expect((await client.call('GET', `/posts/${id}`)).body).toMatchObject({ text })
  }
  await client.publish(await client.renew(olga), 'После ПЕРЕНОСОВ')
  const { body } = await client.call('GET', `/posts/search?q=${encodeURIComponent('перенос')}`)
  const texts = body.posts.map(({ text }: { text: string }) => text)
  expect(texts).toEqual(expect.arrayContaining(['После ПЕРЕНОСОВ', 'До переноса']))
  await stop()
  expect(await runCommand(env, 'recount')).toMatchObject({ out: 'Все счётчики верны.\n' })
  expect(await runCommand(env, 'move-database')).toMatchObject({
    code: 1,
    err: 'Стена уже в базе данных из DATABASE_URL.\n',
  })
  // The new database is in use now, so another move must not replace it.
  expect(await move()).toMatchObject({ code: 1, err: expect.stringContaining('уже есть стена') })
})
