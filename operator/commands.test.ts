import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { readJournal } from '../server/journal/journal.ts'
import { findCounterDifferences } from '../server/posts/counters.task.ts'
import type { TestUser } from '../server/testing/client.ts'
import { createClient, DEVICE } from '../server/testing/client.ts'
import { expectRefusal } from '../server/testing/expect-refusal.ts'
import { folderForTest } from '../server/testing/folder-for-test.ts'
import { openMailbox } from '../server/testing/mailbox.ts'
import { report, signUpModerator } from '../server/testing/moderation-calls.ts'
import { runCommand as run } from '../server/testing/run-command.ts'
import { findPerson } from '../server/testing/search-columns.ts'
import { startMain } from '../server/testing/start-main.ts'
import { NODES, startTestApp, type TestApp } from '../server/testing/test-app.ts'

let app: TestApp
let olga: TestUser
let petr: TestUser
beforeAll(async () => {
  app = await startTestApp()
  olga = await app.signUp()
  petr = await app.signUp()
})
afterAll(() => app.close())

/** Runs a command against the test app, a running server with a database of its own. */
const vslukh = (...args: string[]) =>
  run({ DATABASE_URL: app.databaseUrl, APP_SECRET: 'x'.repeat(32) }, ...args)
const json = async (...args: string[]) => JSON.parse((await vslukh(...args, '--json')).out)
const statusOf = async (id: string) => (await app.call('GET', `/posts/${id}`)).status

test('a wrong call ends with code 2, a refused one with 1, and help with 0', async () => {
  const wrong = [
    [],
    ['explode'],
    ['constructor'],
    ['status', '--frobnicate'],
    ['status', '--reason', 'Спам'],
    ['status', 'now'],
    ['report', '1'],
    ['report', '1', 'explode'],
    ['user', 'olga', 'block'],
    ['journal', '--since', 'yesterday'],
    ['moderator', 'add', 'nobody'],
  ]
  for (const result of await Promise.all(wrong.map((args) => vslukh(...args)))) {
    const err = expect.stringMatching(/^Неверный вызов: /)
    expect(result).toMatchObject({ code: 2, out: '', err })
  }
  const refused = [
    ['post', '999999'],
    ['report', '999999', 'remove'],
    ['user', 'nobody_at_all'],
    ['status', '--env-file', '/nowhere'],
  ]
  for (const { code, out, err } of await Promise.all(refused.map((args) => vslukh(...args)))) {
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/[а-яё.]\n$/i)
    expect(err).not.toContain('    at ')
  }
  const helped = [['--help'], ['post', '--help'], ['user', '--help']]
  for (const { code, out } of await Promise.all(helped.map((args) => run({}, ...args)))) {
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('--dry-run') })
  }
}, 120_000)

test('status, reports and report show what waits and decide it, and the next request of every node feels it', async () => {
  const post = await app.publish(olga, 'Купите\u202eгараж\nнедорого')
  expect(await statusOf(post.id)).toBe(200)
  await report(app, petr, { postId: post.id, comment: 'Надоело' })
  expect(await json('status')).toMatchObject({
    nodes: NODES,
    users: 2,
    waiting: { posts: 1, reports: 1 },
  })
  expect((await vslukh('status')).out).toContain('1 жалоба на 1 запись')
  const checks = sql`UPDATE installation SET backup_at = '2026-03-01T10:00Z', backup_bytes = 2500000,
    backup_verified_at = '2026-02-27T10:00Z', backup_failed = 'на диске не осталось места',
    backup_verification_failed = 'счётчик неверен', counters_checked_at = '2026-03-01T02:40Z',
    counter_differences = 2`
  await checks.execute(app.db)
  const state = (await vslukh('status')).out
  expect(state).toContain('Письма:     ждут: 0, не уходят: 0; за час отправлено: 2, ')
  expect(state).toContain('Счётчики:   01.03.2026, 05:40, расхождений: 2')
  expect(state).toContain('Копия:      01.03.2026, 13:00, 2.5 МБ, проверялась 27.02.2026, 13:00.')
  expect(state).toContain('Последняя не удалась: на диске не осталось места.')
  expect(state).toContain('Последняя не прошла проверку: счётчик неверен')
  const { out } = await vslukh('reports')
  expect(out).toContain(`${post.id}  1 жалоба (1 аккаунт)`)
  expect(out).toContain('Спам или реклама × 1')
  expect(out).toContain('«Надоело»')

  const dry = await vslukh('report', post.id, 'remove', '--dry-run')
  expect(dry).toMatchObject({ code: 0, err: expect.stringContaining('ничего не изменено') })
  expect(await statusOf(post.id)).toBe(200)
  const args = [
    '--reason',
    'Торговля',
    '--block-days',
    '3',
    '--note',
    'Опять',
    '--as',
    'Маша',
    '--yes',
  ]
  expect(await vslukh('report', post.id, 'remove', ...args)).toMatchObject({
    code: 0,
    out: 'Запись удалена.\n',
  })
  expect(await statusOf(post.id)).toBe(404)
  expectRefusal(await app.call('GET', '/sessions', { token: olga.token }), 'UNAUTHORIZED')
  olga = await app.signIn(olga.email)
  const blocked = await app.call('POST', '/posts', { token: olga.token, body: { text: 'Ещё' } })
  expectRefusal(blocked, 'BLOCKED')
  expect((await vslukh('reports')).out).toBe('Открытых жалоб нет.\n')
  expect((await vslukh('reports', '--all')).out).toContain(`${post.id}  удалена`)

  const lines = (await vslukh('journal', '--post', post.id)).out
  expect(lines).toContain('Маша  post.remove')
  expect(lines).toContain('Торговля «Купитегараж»')
  expect(await json('journal', '--user', olga.username, '--since', '1h')).toMatchObject([
    { action: 'user.block', actor: 'Маша' },
    { action: 'post.remove', details: { note: 'Опять' } },
  ])
  expect(await vslukh('user', olga.username, 'unblock')).toMatchObject({ code: 0 })
  expect(
    (await app.call('POST', '/posts', { token: olga.token, body: { text: 'Ещё' } })).status,
  ).toBe(201)
  expect((await readJournal(app.db, { userId: olga.id }))[0]).toMatchObject({ actor: 'masha' })
}, 120_000)

test.each(['report', 'post'])(
  '%s remove tells the author and the reporter, and neither with --quiet',
  async (command) => {
    for (const isQuiet of [false, true]) {
      const { id: postId } = await app.publish(olga, `Тише: ${command} ${isQuiet}`)
      await report(app, petr, { postId })
      await vslukh(command, postId, 'remove', ...(isQuiet ? ['--quiet'] : []))
      expect(await statusOf(postId)).toBe(404)
      // The time in which a decision can be undone is over.
      await sql`UPDATE reports SET decided_at = decided_at - interval '1 minute'`.execute(app.db)
      const { body } = await app.call('GET', '/users/current/reports', { token: petr.token })
      const told = body.reports.find((own: { postId: string }) => own.postId === postId)
      expect(told).toMatchObject({ outcome: 'removed', isNew: !isQuiet })
      const [decision] = await readJournal(app.db, { postId })
      const { rows } = await sql`SELECT FROM graphile_worker._private_jobs j
      JOIN graphile_worker._private_tasks t ON t.id = j.task_id
      WHERE identifier = 'announce-decision' AND payload->>'id' = ${decision?.id}`.execute(app.db)
      expect(rows.length).toBe(isQuiet ? 0 : 1)
    }
  },
)

test('post shows, removes and restores any post, by an order too, and removes a wave of one user', async () => {
  const post = await app.publish(petr, 'Обычная запись')
  expect((await vslukh('post', post.id)).out).toContain('на стене')
  expect(await vslukh('post', post.id, 'restore')).toMatchObject({ code: 1 })
  await vslukh('post', post.id, 'remove', '--order', 'Требование № 7')
  expect(await statusOf(post.id)).toBe(404)
  expect((await vslukh('post', post.id)).out).toContain(
    'удалена модератором, причина: Нарушение правил',
  )
  expect(await vslukh('post', post.id, 'remove')).toMatchObject({ code: 1 })
  expect((await readJournal(app.db, { postId: post.id }))[0]).toMatchObject({
    details: { order: 'Требование № 7', text: 'Обычная запись' },
  })
  await vslukh('post', post.id, 'restore')
  expect(await statusOf(post.id)).toBe(200)

  const wave = [post, await app.publish(petr), await app.reply(petr, post.id)]
  const args = ['post', 'remove', '--user', petr.username, '--since', '2h']
  expect(await vslukh(...args)).toMatchObject({ code: 1, err: expect.stringContaining('--yes') })
  expect((await vslukh(...args, '--dry-run')).out).toContain('3 записи')
  for (const { id } of wave) expect(await statusOf(id)).toBe(200)
  expect((await vslukh(...args, '--yes')).out).toBe('Удалено: 3 записи.\n')
  for (const { id } of wave) expect(await statusOf(id)).toBe(404)
  expect(await findCounterDifferences(app.db)).toEqual([])
}, 120_000)

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
  await vslukh('user', 'vera_new', 'block', '--reason', 'Спам', '--days', '2', '--yes')
  expect((await vslukh('user', 'vera_new')).out).toContain('не может писать до')
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
    'masha ban.remove',
  ])
}, 120_000)

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

test('recount mends every counter that differs and says which', async () => {
  const author = await signUpModerator(app)
  const post = await app.publish(author)
  await app.reply(author, post.id)
  await app.call('POST', `/posts/${post.id}/likes`, { token: author.token })
  expect(await vslukh('recount')).toMatchObject({ code: 0, out: 'Все счётчики верны.\n' })
  for (const breakIt of [
    sql`UPDATE posts SET likes_count = 7, replies_count = 8 WHERE id = ${post.id}`,
    sql`UPDATE owner_totals SET posts = posts + 1, replies = replies + 2 WHERE user_id = ${author.id}`,
    sql`DELETE FROM like_totals WHERE user_id = ${author.id}`,
    sql`UPDATE wall_totals SET posts = posts + 3 WHERE slot = 5`,
  ]) {
    await breakIt.execute(app.db)
  }
  expect(await json('recount', '--dry-run')).toMatchObject({ mended: { length: 6 } })
  expect(await findCounterDifferences(app.db)).toHaveLength(6)
  expect((await vslukh('recount')).out).toContain('Исправлено: 6.')
  expect(await findCounterDifferences(app.db)).toEqual([])
  expect((await app.call('GET', `/posts/${post.id}`)).body.actions).toMatchObject({
    likes_count: 1,
    replies_count: 1,
  })
}, 60_000)

test('the embedded database of a running server is found, its wall feels a command at once, and so does that of a stopped one', async () => {
  const dataDir = await folderForTest()
  const mailbox = await openMailbox()
  onTestFinished(() => mailbox.close())
  const scale = { RATE_LIMIT_SCALE: '1000' }
  const env = { DATA_DIR: dataDir, SMTP_URL: mailbox.url, MAIL_MODE: 'smtp', ...scale }
  expect(await run(env, 'status')).toMatchObject({ code: 1, out: '' })

  const started = await startMain(env)
  const url = /^Готово: (\S+)$/m.exec(started.stdout)?.[1] ?? ''
  const email = 'olga@example.org'
  const client = createClient(url, { check() {}, codeFor: () => mailbox.codeFor(email) })
  const user = await client.signIn(email)
  const posts = await Promise.all([1, 2, 3].map(() => client.publish(user)))
  const envFile = join(dataDir, 'wall.env')
  await writeFile(envFile, `DATA_DIR=${dataDir}\n`)
  for (const { id } of posts.slice(0, 2)) {
    expect((await client.call('GET', `/posts/${id}`)).status).toBe(200)
    const { code } = await run({}, 'post', id, 'remove', '--env-file', envFile)
    expect(code).toBe(0)
    // Without the change feed the visitor's cached answer would still be served.
    expect((await client.call('GET', `/posts/${id}`)).status).toBe(404)
  }
  expect(JSON.parse((await run(env, 'status', '--json')).out)).toMatchObject({ nodes: 1, posts: 1 })
  expect((await run(env, 'psql')).out).toMatch(/^postgresql:\/\//)
  await started.stop()

  expect(JSON.parse((await run(env, 'status', '--json')).out)).toMatchObject({ nodes: 0, posts: 1 })
  expect(await run(env, 'post', posts[0]?.id ?? '', 'restore')).toMatchObject({ code: 0 })
  expect(await run(env, 'recount')).toMatchObject({ out: 'Все счётчики верны.\n' })
  const again = await startMain(env)
  const second = /^Готово: (\S+)$/m.exec(again.stdout)?.[1] ?? ''
  const { body } = await createClient(second, { check() {}, codeFor: () => '' }).call(
    'GET',
    '/posts',
  )
  expect(body).toMatchObject({ total: 2 })
}, 240_000)
