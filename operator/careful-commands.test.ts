import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { sql } from 'kysely'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { readJournal } from '../server/journal/journal.ts'
import { changesForTest } from '../server/testing/changes-for-test.ts'
import { lockWaits } from '../server/testing/databases.ts'
import { folderForTest } from '../server/testing/folder-for-test.ts'
import { report } from '../server/testing/moderation-calls.ts'
import { operatedWall } from '../server/testing/operated-wall.ts'
import { envOf, runHere } from '../server/testing/run-command.ts'

const { app, vslukh, statusOf } = await operatedWall()

test('with --json a refusal, a wrong call and the help are JSON too, with the same exit codes', async () => {
  for (const [code, ...args] of [
    [1, 'post', '999999'],
    [2, 'status', 'now'],
    [2, 'status', '--frobnicate'],
  ] as const) {
    const result = await vslukh(...args, '--json')
    expect(result.code).toBe(code)
    expect(JSON.parse(result.out)).toEqual({ error: expect.stringMatching(/[а-яё]/) })
  }
  const help = JSON.parse((await runHere({}, ['--help', '--json'])).out)
  expect(help.commands).toContainEqual(
    expect.objectContaining({ name: 'status', usage: ['status'] }),
  )
  const one = JSON.parse((await runHere({}, ['report', '--help', '--json'])).out)
  expect(one).toMatchObject({ usage: expect.any(Array), options: expect.any(Array) })
})

test('a person is found by what names one person alone, and the row names who called sudo', async () => {
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  await app.db.updateTable('users').set({ username: olga.id }).where('id', '=', petr.id).execute()
  const refused = await vslukh('user', olga.id)
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining(petr.email) })
  expect((await vslukh('user', petr.email)).out).toContain(`${olga.id} (${petr.id})`)
  expect(await vslukh('user', petr.email, 'constructor')).toMatchObject({ code: 2 })

  const post = await app.publish(await app.signUp(), 'Чья это запись?')
  expect((await vslukh('post', post.id)).out).toContain(`Автор: ${post.owner.username} (`)
  const block = ['user', petr.email, 'block', '--reason', 'Спам']
  const asked = { code: 1, err: expect.stringContaining('сессии завершатся') }
  expect(await vslukh(...block)).toMatchObject(asked)
  const sudo = { ...envOf(app), USER: 'root', SUDO_USER: 'galya' }
  expect(await runHere(sudo, [...block, '--yes'])).toMatchObject({ code: 0 })
  expect((await readJournal(app.db, { userId: petr.id }))[0]).toMatchObject({ actor: 'galya' })
  const remove = ['post', post.id, 'remove', '--block-days', '3']
  expect(await vslukh(...remove)).toMatchObject({ ...asked, err: expect.stringContaining('--yes') })
  expect(await statusOf(post.id)).toBe(200)
  expect(await vslukh(...remove, '--yes')).toMatchObject({ code: 0 })
  expect(await statusOf(post.id)).toBe(404)
})

test('a wave goes on past a post that its author deletes meanwhile, and tells the nodes once', async () => {
  const author = await app.signUp()
  const posts = [await app.publish(author), await app.publish(author), await app.publish(author)]
  const [first, second] = posts.map(({ id }) => id)
  const changes = await changesForTest(app.databaseUrl)
  const holder = new pg.Client(app.databaseUrl)
  await holder.connect()
  onTestFinished(() => holder.end())
  await holder.query('BEGIN')
  await holder.query('SELECT FROM posts WHERE id = $1 FOR UPDATE', [first])
  const wave = vslukh('post', 'remove', '--user', author.username, '--since', '2h', '--yes')
  await expect.poll(() => lockWaits(app), { timeout: 30_000 }).toBe(1)
  await app.call('DELETE', `/posts/${second}`, { token: author.token })
  await holder.query('COMMIT')
  expect(await wave).toMatchObject({ code: 0, out: 'Удалено: 2 записи.\n' })
  for (const { id } of posts) expect(await statusOf(id)).toBe(404)
  await changes.arrived()
  const told = changes.received.filter((change) => change.startsWith('operator-'))
  expect(told).toHaveLength(1)
}, 60_000)

test('an export that fails leaves no file, and both dry runs say what would be', async () => {
  const olga = await app.signUp()
  await app.publish(olga)
  const folder = await folderForTest()
  const file = join(folder, 'olga.zip')
  const save = ['user', olga.email, 'export', file]
  // The archive is read from the database while it is written.
  await app.db.schema.alterTable('archived_likes').renameTo('away').execute()
  expect(await vslukh(...save)).toMatchObject({ code: 1 })
  await app.db.schema.alterTable('away').renameTo('archived_likes').execute()
  expect(await readdir(folder)).toEqual([])
  expect(await vslukh(...save)).toMatchObject({ code: 0 })
  expect(await readdir(folder)).toEqual(['olga.zip'])
  expect(await vslukh(...save, '--dry-run')).toMatchObject({
    code: 1,
    err: expect.stringContaining('уже есть'),
  })
  const erase = await vslukh('user', olga.email, 'erase', '--dry-run')
  expect(erase.out).toContain('записей 1, ответов 0, отметок «Нравится» 0')
})

test('status names an appeal where there is no report', async () => {
  const author = await app.signUp()
  const post = await app.publish(author)
  await vslukh('post', post.id, 'remove')
  const path = `/users/current/removed-posts/${post.id}/appeal`
  await app.call('POST', path, { token: author.token, body: { text: 'Верните' } })
  expect((await vslukh('status')).out).toContain('Жалобы:     1 обжалование на 1 запись, ')
  const reported = await app.publish(author)
  await report(app, await app.signUp(), { postId: reported.id })
  expect((await vslukh('status')).out).toContain('1 жалоба и 1 обжалование на 2 записи, ')
})

test('the journal says in words who was named, renamed and blocked, by which order and for how long, and that a post came back', async () => {
  const author = await app.signUp()
  const post = await app.publish(author, 'Первая строка\nвторая строка')
  const run = async (...args: string[]) =>
    expect(await vslukh(...args, '--yes')).toMatchObject({ code: 0 })
  await run('moderator', 'add', author.email)
  await run('ban', 'add', 'domain', 'spam.example', '--days', '7')
  await run('user', author.email, 'rename', 'novoe_imya')
  await run(
    'post',
    post.id,
    'remove',
    '--order',
    'РКН № 1234-ИД',
    '--note',
    'Срочно',
    '--block-days',
    '3',
  )
  await run('post', post.id, 'restore')
  const { out } = await vslukh('journal')
  for (const words of [
    `назначен модератор\n    Почта: ${author.email}`,
    'запрет регистрации\n    Значение: spam.example\n    Дней: 7',
    `имя изменено (человек ${author.id})\n    Было: ${author.username}\n    Стало: novoe_imya`,
    'Предписание: РКН № 1234-ИД\n    Заметка: Срочно\n    Текст: Первая строка\n    вторая строка',
    `закрыта возможность писать (человек ${author.id})`,
    `запись возвращена (запись ${post.id}, человек ${author.id})`,
  ]) {
    expect(out).toContain(words)
  }
  expect(out).toMatch(/\n {4}До \d\d\.\d\d\.\d{4}, \d\d:\d\d GMT\+3\n/)
  expect(out).not.toMatch(/[a-z]+\.[a-z]+ /)
})

test('post and reports show reports, comments and the appeal whole, and what was decided before', async () => {
  const author = await app.signUp()
  const post = await app.publish(author, 'Строка записи\nещё строка')
  await report(app, await app.signUp(), { postId: post.id, comment: 'Грубо\nи неправда' })
  const shown = (await vslukh('post', post.id)).out
  for (const words of ['1 жалоба', '    «Грубо\n    и неправда»', '    ещё строка\n']) {
    expect(shown).toContain(words)
    expect((await vslukh('reports')).out).toContain(words)
  }
  await vslukh('post', post.id, 'remove', '--note', 'Проверено')
  const path = `/users/current/removed-posts/${post.id}/appeal`
  const body = { text: 'Верните\nпожалуйста' }
  await app.call('POST', path, { token: author.token, body })
  const appealed = (await vslukh('post', post.id)).out
  expect(appealed).toContain('«Верните\n    пожалуйста»')
  expect(appealed).toMatch(/Журнал:\n.*запись удалена[\s\S]*Заметка: Проверено/)
})

test('the access journal can be read, and that it was read stands in the journal', async () => {
  const author = await app.signUp()
  await sql`INSERT INTO access_journal (action, user_id, address, port)
    VALUES ('sign-in', ${author.id}, '203.0.113.7', 4711)`.execute(app.db)
  const { out } = await vslukh('journal', '--access', '--user', author.email)
  expect(out).toContain(`вход: человек ${author.id} — 203.0.113.7, порт 4711\n`)
  expect((await readJournal(app.db, { userId: author.id }))[0]).toMatchObject({
    action: 'access.read',
    actor: 'masha',
  })
})

test('Ctrl+C and Ctrl+D at a question change nothing and end with a sentence', async () => {
  const author = await app.signUp()
  const args = ['user', author.email, 'sign-out']
  for (const key of ['\x03', '\x04']) {
    const input = new PassThrough()
    input.write(key)
    const { code, err } = await runHere(envOf(app), args, input)
    expect(code).toBe(1)
    expect(err).toMatch(/Ничего не изменено\.\n$/)
    expect(err).not.toMatch(/Error|^ {4}at /m)
  }
  const yes = new PassThrough()
  yes.write('да\n')
  expect(await runHere(envOf(app), args, yes)).toMatchObject({ code: 0 })
})
