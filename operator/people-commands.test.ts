import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findCounterDifferences } from '../server/features/posts/counters.task.ts'
import { createSiteStateReader } from '../server/features/site-state/site-state.service.ts'
import { readJournal } from '../server/kernel/journal/journal.ts'
import { DEVICE } from '../server/testing/client.ts'
import { expectRefusal } from '../server/testing/expect-refusal.ts'
import { folderForTest } from '../server/testing/folder-for-test.ts'
import { operatedWall } from '../server/testing/operated-wall.ts'
import { findPerson } from '../server/testing/search-columns.ts'

const { app, olga, petr, vslukh, json, statusOf } = await operatedWall()

test('user finds a person by name, e-mail and id, blocks, signs out and renames them', async () => {
  const vera = await app.signUp()
  for (const known of [vera.username.toUpperCase(), vera.email, vera.id]) {
    expect(await json('user', known)).toMatchObject({ id: vera.id, email: vera.email, sessions: 1 })
  }
  expect(await vslukh('user', vera.id, 'sign-out')).toMatchObject({ code: 1 })
  expect(await vslukh('user', vera.id, 'sign-out', '--yes')).toMatchObject({ code: 0 })
  expectRefusal(await app.call('GET', '/sessions', { token: vera.token }), 'UNAUTHORIZED')
  const again = await app.signIn(vera.email)
  const post = await app.publish(again, 'Как меня зовут?')
  expect(await statusOf(post.id)).toBe(200)
  expect(await vslukh('user', vera.id, 'rename', 'x')).toMatchObject({ code: 1 })
  expect(await vslukh('user', vera.id, 'rename', petr.username)).toMatchObject({ code: 1 })
  expect(await vslukh('user', vera.id, 'rename', 'vera_new')).toMatchObject({ code: 0 })
  expect((await app.call('GET', `/posts/${post.id}`)).body.owner.username).toBe('vera_new')
  // People never read the number of a reason.
  await vslukh('user', 'vera_new', 'block', '--reason', '1', '--days', '2', '--yes')
  expect((await vslukh('user', 'vera_new')).out).toMatch(/не может писать до .+: Спам или реклама/)
  expect(await vslukh('user', 'vera_new', 'unblock')).toMatchObject({ code: 0 })
  expect(await vslukh('user', 'vera_new', 'unblock')).toMatchObject({ code: 1 })
}, 120_000)

test('moderators are named and removed without a restart', async () => {
  const { email, token } = petr
  const queue = () => app.call('GET', '/moderation/queue', { token })
  expectRefusal(await queue(), 'NOT_FOUND')
  expect(await vslukh('moderator', 'add', email)).toMatchObject({ code: 0 })
  expect((await queue()).status).toBe(200)
  expect(await vslukh('moderator', 'add', email.toUpperCase())).toMatchObject({ code: 1 })
  expect((await vslukh('moderator', 'list')).out).toContain(petr.username)
  expect(await vslukh('moderator', 'remove', email)).toMatchObject({ code: 0 })
  expectRefusal(await queue(), 'NOT_FOUND')
  expect(await vslukh('moderator', 'remove', email)).toMatchObject({ code: 1 })
}, 60_000)

test('registrations and writing are closed and opened, people are invited, and bans added and removed, at the next call', async () => {
  const start = (email: string) =>
    app.call('POST', '/registrations', { body: { email, clientToken: 'x', device: DEVICE } })
  const write = () => app.call('POST', '/posts', { token: olga.token, body: { text: 'Можно?' } })
  expect(await vslukh('close', 'registrations')).toMatchObject({ code: 2 })
  expect(await vslukh('close', 'doors', '--reason', 'x')).toMatchObject({ code: 2 })
  await vslukh('close', 'registrations', '--reason', 'Спам')
  await vslukh('close', 'writing', '--reason', 'Переезд')
  expect((await vslukh('status')).out).toContain(
    'Доступ:     регистрация закрыта (Спам), запись на стену закрыта (Переезд); запретов: 0, ',
  )
  const doctor = (await vslukh('doctor')).out
  expect(doctor).toContain('! регистрация закрыта: Спам; запись на стену закрыта: Переезд. ')
  expect(doctor).toContain('vslukh open registrations, vslukh open writing')
  expectRefusal(await start('a@example.org'), 'REGISTRATION_CLOSED')
  expectRefusal(await write(), 'WRITING_CLOSED')
  const { link } = await json('invite', '--days', '2')
  const invitation = link.split('/invitation#')[1]
  const body = { email: 'a@example.org', clientToken: 'x', device: DEVICE, invitation }
  expect((await app.call('POST', '/registrations', { body })).status).toBe(201)
  await vslukh('open', 'registrations')
  await vslukh('open', 'writing')
  expect((await write()).status).toBe(201)

  expect(await vslukh('ban', 'add', 'network', 'nonsense')).toMatchObject({ code: 2 })
  const { id } = await json('ban', 'add', 'domain', 'spam.example', '--days', '7')
  expectRefusal(await start('a@spam.example'), 'REGISTRATION_CLOSED')
  expect((await vslukh('ban', 'list')).out).toContain(`${id}  домен spam.example, до `)
  const again = ['ban', 'add', 'domain', 'Spam.example', '--reason', 'Рассылка', '--as', 'Галя']
  expect((await vslukh(...again)).out).toContain('не зарегистрироваться: Spam.example, до ')
  expect((await vslukh('ban', 'list')).out).toMatch(
    new RegExp(`^${id}  домен spam.example, до .*\\. Рассылка \\(Галя\\)$`, 'm'),
  )
  for (const vast of ['network 0.0.0.0/0', 'network ::/8', 'network 64.0.0.0/7', 'domain com']) {
    const add = ['ban', 'add', ...vast.split(' ')]
    expect(await vslukh(...add)).toMatchObject({ code: 1, err: expect.stringContaining('--yes') })
  }
  const meant = await json('ban', 'add', 'domain', 'test', '--yes')
  expectRefusal(await start('a@mail.test'), 'REGISTRATION_CLOSED')
  expect(await vslukh('ban', 'remove', meant.id)).toMatchObject({ code: 0 })
  expect(await vslukh('ban', 'remove', id, '--dry-run')).toMatchObject({ code: 0 })
  expectRefusal(await start('a@spam.example'), 'REGISTRATION_CLOSED')
  expect(await vslukh('ban', 'remove', id)).toMatchObject({ code: 0 })
  expect(await vslukh('ban', 'remove', id)).toMatchObject({ code: 1 })
  expect((await start('a@spam.example')).status).toBe(201)
  const acts = await readJournal(app.db, { sinceSeconds: 600 })
  const own = acts.filter(({ action }) => /^(?:ban|invite|registrations|writing)/.test(action))
  expect(own.map(({ actor, action }) => `${actor} ${action}`).reverse()).toEqual([
    'masha registrations.close',
    'masha writing.close',
    'masha invite',
    'masha registrations.open',
    'masha writing.open',
    'masha ban.add',
    'Галя ban.add',
    'masha ban.add',
    'masha ban.remove',
    'masha ban.remove',
  ])
}, 120_000)

test('notice shows everybody a line, says it again, and takes it back', async () => {
  const read = createSiteStateReader(app.db)
  for (const wrong of [
    ['notice', 'Первая\nвторая'],
    ['notice', ' '],
    ['notice', 'а'.repeat(201)],
  ]) {
    const err = expect.stringContaining('одна строка с видимыми символами, не длиннее 200')
    expect(await vslukh(...wrong)).toMatchObject({ code: 2, err })
  }
  expect(await vslukh('notice', 'Без', 'кавычек')).toMatchObject({ code: 2 })
  expect(await vslukh('notice', 'Перезапуск', '--until', 'утром')).toMatchObject({ code: 2 })
  expect(await vslukh('notice', 'clear', '--until', '2h')).toMatchObject({ code: 2 })
  expect((await vslukh('notice', 'Перезапуск', '--dry-run')).out).toContain('Перезапуск')
  expect((await vslukh('notice')).out).toBe('Объявления нет.\n')

  const shown = await vslukh('notice', 'В полночь перезапуск', '--until', '2h')
  expect(shown.out).toMatch(/^Под шапкой у всех: В полночь перезапуск\nДо \d\d\.\d\d\./)
  expect((await read()).notice?.text).toBe('В полночь перезапуск')
  expect((await vslukh('notice')).out).toBe(shown.out)
  expect((await vslukh('status')).out).toContain('Объявление: В полночь перезапуск\n')
  expect(await json('notice', 'Переезд')).toEqual({ notice: { text: 'Переезд', until: null } })
  expect((await vslukh('notice')).out).toContain('vslukh notice clear')
  expect(await vslukh('notice', 'clear')).toMatchObject({ code: 0, out: 'Объявление снято.\n' })
  expect(await json('notice')).toEqual({ notice: null })
  expect((await vslukh('status')).out).not.toContain('Объявление')
  const acts = (await vslukh('journal', '--since', '10m')).out
  expect(acts).toMatch(/masha {2}объявление\n +До .*\n +Текст: В полночь перезапуск\n/)
  expect(acts).toContain('masha  объявление снято')
}, 60_000)

test('user export writes a new file that only its owner can read, and user erase leaves nothing but the journal', async () => {
  const vera = await app.signUp()
  const post = await app.publish(vera, 'Запись Веры')
  await app.reply(petr, post.id)
  const folder = await folderForTest()
  const file = join(folder, 'vera.zip')
  expect(await vslukh('user', vera.email, 'export')).toMatchObject({ code: 2 })
  expect(await vslukh('user', vera.email, 'export', file)).toMatchObject({ code: 0 })
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect((await readFile(file)).subarray(0, 2).toString()).toBe('PK')
  expect(await vslukh('user', vera.email, 'export', file)).toMatchObject({ code: 1 })

  expect(await vslukh('user', vera.email, 'erase')).toMatchObject({ code: 1 })
  expect(await vslukh('user', vera.email, 'erase', '--dry-run')).toMatchObject({ code: 0 })
  expect(await statusOf(post.id)).toBe(200)
  expect(await vslukh('user', vera.email, 'erase', '--yes')).toMatchObject({ code: 0 })
  expect(await statusOf(post.id)).toBe(404)
  expect(await vslukh('user', vera.email)).toMatchObject({ code: 1 })
  const words = [vera.email, vera.username, 'Запись Веры']
  const found = await findPerson(app.db, { words, id: vera.id })
  expect(found.filter((where) => !where.startsWith('journal.'))).toEqual([])
  expect(await findCounterDifferences(app.db)).toEqual([])
}, 120_000)
