import { expect, test } from 'vitest'
import { readJournal } from '../server/kernel/journal/journal.ts'
import { report } from '../server/testing/calls/moderation-calls.ts'
import { operatedWall } from '../server/testing/operated-wall.ts'

const { app, vslukh } = await operatedWall()

test('the journal describes every action in Russian with its details', async () => {
  const author = await app.signUp()
  const post = await app.publish(author, 'Первая строка\nвторая строка')
  for (const line of [
    `moderator add ${author.email}`,
    'ban add domain spam.example --days 7',
    `user ${author.email} rename novoe_imya`,
    `post ${post.id} remove --order №1234-ИД --note Срочно --block-days 3`,
    `post ${post.id} restore`,
  ]) {
    expect(await vslukh(...line.split(' '), '--yes')).toMatchObject({ code: 0 })
  }
  const { out } = await vslukh('journal')
  for (const words of [
    `назначен модератор\n    Почта: ${author.email}`,
    'запрет регистрации\n    Значение: spam.example\n    Дней: 7',
    `имя изменено (человек ${author.id})\n    Было: ${author.username}\n    Стало: novoe_imya`,
    'Предписание: №1234-ИД\n    Заметка: Срочно\n    Текст: Первая строка\n    вторая строка',
    `закрыта возможность писать (человек ${author.id})`,
    `запись возвращена (запись ${post.id}, человек ${author.id})`,
  ]) {
    expect(out).toContain(words)
  }
  expect(out).toMatch(/\n {4}До \d\d\.\d\d\.\d{4}, \d\d:\d\d GMT\+3\n/)
  expect(out).not.toMatch(/[a-z]+\.[a-z]+ /)
})

test('post and reports print reports, comments, the appeal and earlier decisions in full, and status counts them', async () => {
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
  expect((await vslukh('status')).out).toContain('Жалобы:     1 обжалование на 1 запись, ')
  const reported = await app.publish(author)
  await report(app, await app.signUp(), { postId: reported.id })
  expect((await vslukh('status')).out).toContain('1 жалоба и 1 обжалование на 2 записи, ')
})

test('reading the access journal is recorded in the journal, and a dry run, which records nothing, shows no address', async () => {
  const author = await app.signUp()
  await app.sql`INSERT INTO access_journal (action, user_id, address, port)
    VALUES ('sign-in', ${author.id}, '203.0.113.7', 4711)`
  for (const format of [[], ['--json']]) {
    const dry = await vslukh('journal', '--access', '--dry-run', ...format)
    expect(dry).toMatchObject({ code: 0, out: expect.not.stringContaining('203.0.113.7') })
  }
  const { out } = await vslukh('journal', '--access', '--user', author.email)
  expect(out).toContain(`вход: человек ${author.id} — 203.0.113.7, порт 4711\n`)
  const read = { action: 'access.read', actor: 'masha' }
  expect((await readJournal(app.db, { userId: author.id }))[0]).toMatchObject(read)
})
