import { sql } from 'kysely'
import type pg from 'pg'
import { expect, test } from 'vitest'
import { findCounterDifferences } from '../server/features/posts/counters.task.ts'
import { readJournal } from '../server/kernel/journal/journal.ts'
import { storeCounterCheck } from '../server/operations/status/status.repository.ts'
import { report, signUpModerator } from '../server/testing/calls/moderation-calls.ts'
import { clientForTest } from '../server/testing/database/database-for-test.ts'
import { executeOn, lockWaits } from '../server/testing/database/databases.ts'
import { operatedWall } from '../server/testing/operated-wall.ts'
import { runHere } from '../server/testing/process/run-command.ts'
import { NODES } from '../server/testing/test-app.ts'

const { app, mailbox, olga, petr, vslukh, json, statusOf } = await operatedWall()

const UNKNOWN = ['constructor', 'status --frobnicate', 'status --reason Спам', 'report 1 explode']
const VALUES = ['status --as', 'status --json=1', 'journal --since yesterday', 'user olga block']

test.each([
  ...[...UNKNOWN, ...VALUES, '', 'moderator add nobody'].map((line) => [line]),
  ['reprots', 'команды «reprots» нет; может быть, reports?'],
  ['report', 'не хватает: НОМЕР… remove или НОМЕР… keep', 'help report'],
  // An unset variable of a script, which became the current folder.
  ['backup \u00a0', 'нужно ФАЙЛ или ПАПКА'],
  ['backup -', 'вместо «-» назовите файл'],
  ['restore - --replace', 'вместо «-» назовите файл'],
  ['user olga export -', 'вместо «-» назовите файл'],
  ['report 7', 'не хватает: remove или keep'],
  ['ban add domain', 'не хватает: ЗНАЧЕНИЕ', 'help ban'],
  ['report x remove', '«x» — не номер записи'],
  ['invite --uses 1000000', 'от 1 до 9999'],
  [`close writing --reason ${'я'.repeat(201)}`, 'не длиннее 200'],
])('«%s» exits with 2 and names the missing word and the help', async (line, ...expected) => {
  const { code, out, err } = await vslukh(...line.split(' ').filter(Boolean))
  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(err).toMatch(/^Неверный вызов: (?!.*(?:Unknown|Option|ambiguous))/s)
  for (const words of expected) expect(err).toContain(words)
})

test('a refused call exits with 1, and help with 0', async () => {
  const refused = ['report 999999 remove', 'user nobody_at_all', 'restore /nowhere/x', 'upgrade /x']
  const calls = refused.map((line) => vslukh(...line.split(' ')))
  for (const { code, out, err } of await Promise.all(calls)) {
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/[а-яё.]\n$/i)
    expect(err).not.toContain('    at ')
  }
  expect((await vslukh('status', '--env-file', '/')).err).toMatch(/папка, а нужен файл\.$/m)
  const helped = [['--help'], ['-h'], ['help'], ['help', 'post'], ['user', '--help']]
  for (const { code, out } of await Promise.all(helped.map((args) => runHere({}, args)))) {
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('--dry-run') })
    // The placeholders are Russian too, such as ПОЧТА instead of EMAIL.
    expect(out).not.toMatch(/\b(?!ACCESS_JOURNAL_DAYS)[A-Z]{1,}\b/)
  }
  expect((await runHere({}, ['--version'])).out).toMatch(/^vslukh \d+\.\d+\.\d+\n$/)
  const explained = (await runHere({}, ['help', 'report'])).out
  for (const option of ['--quiet', '--note', '--order', '--reason', '--block-days']) {
    expect(explained).toMatch(new RegExp(`^ {2}${option} .*[а-яё]`, 'm'))
  }
})

test('status and reports list open reports, and a decision applies to the next request on every node', async () => {
  const author = await app.signUp()
  // The codes of all three people, which the status counts.
  await app.logLine('mail sent', 3)
  const post = await app.publish(author)
  expect(await statusOf(post.id)).toBe(200)
  await report(app, petr, { postId: post.id })
  expect(await json('status')).toMatchObject({
    nodes: NODES,
    users: 3,
    waiting: { posts: 1, reports: 1 },
  })
  expect((await vslukh('status')).out).toContain('1 жалоба на 1 запись')
  await app.sql`UPDATE installation SET backup_at = '2026-03-01T10:00Z', backup_bytes = 2500000,
    backup_verified_at = '2026-02-27T10:00Z', backup_verification_failed = 'счётчик неверен',
    counters_checked_at = '2026-03-01T02:40Z', counter_differences = 2`
  const state = (await vslukh('status')).out
  expect(state).toContain('Письма:     ждут: 0, не уходят: 0; за час отправлено: 3, ')
  expect(state).toContain('Счётчики:   01.03.2026, 05:40 GMT+3, расхождений: 2')
  const backup =
    'Копия:      01.03.2026, 13:00 GMT+3, 2,4 МиБ, проверялась 27.02.2026, 13:00 GMT+3.'
  expect(state).toContain(backup)
  expect(state).toContain('Последняя не прошла проверку: счётчик неверен')
  expect(state).toContain('Задачи:     фоновые задачи выполняются')
  const failing = `INSERT INTO failing_tasks VALUES ('no-such-task', '2026-03-01T10:00Z', 3)`
  await executeOn(app.databaseUrl, failing)
  const named = 'не удаются раз за разом: no-such-task с 01.03.2026, 13:00 GMT+3'
  for (const command of ['status', 'doctor']) {
    expect((await vslukh(command)).out).toContain(named)
  }
  await app.sql`DELETE FROM failing_tasks`
  const { out } = await vslukh('reports')
  expect(out).toContain(`${post.id}  ${author.username}, `)
  expect(out).toMatch(/1 жалоба \(1 аккаунт\) с .* GMT\+3: Спам или реклама × 1/)

  const remove = `report ${post.id} remove --reason Торговля --block-days 3 --note Опять --as Маша --yes`
  const removed = { code: 0, out: 'Запись удалена.\n' }
  expect(await vslukh(...remove.split(' '))).toMatchObject(removed)
  expect(await statusOf(post.id)).toBe(404)
  expect((await vslukh('reports')).out).toBe('Открытых жалоб нет.\n')
  expect((await vslukh('reports', '--all')).out).toContain(`${post.id}  удалена`)

  const lines = (await vslukh('journal', '--post', post.id)).out
  expect(lines).toContain(`Маша  запись удалена (запись ${post.id}, человек ${author.id})`)
  expect(lines).toContain('\n    Причина: Торговля\n')
  expect(await json('journal', '--user', author.username, '--since', '1h')).toMatchObject([
    { action: 'user.block', actor: 'Маша' },
    { action: 'post.remove', details: { note: 'Опять' } },
  ])
})

test.each(['report', 'post'])(
  '%s remove notifies the author and the reporter, and neither with --quiet',
  async (command) => {
    for (const isQuiet of [true, false]) {
      const { id: postId } = await app.publish(olga, `Тише: ${command} ${isQuiet}`)
      await report(app, petr, { postId })
      await vslukh(command, postId, 'remove', ...(isQuiet ? ['--quiet'] : []))
      expect(await statusOf(postId)).toBe(404)
      const { body } = await app.call('GET', '/users/current/reports', { token: petr.token })
      const told = body.reports.find((own: { postId: string }) => own.postId === postId)
      expect(told).toMatchObject({ outcome: 'removed', isNew: !isQuiet })
    }
    const find = (text: string) => mailbox.mails.filter((mail) => mail.text.includes(text))
    await expect.poll(() => find(`Тише: ${command} false`).length).toBe(1)
    expect(find(`Тише: ${command} true`)).toEqual([])
  },
)

test('post shows, removes and restores any post, records an order, and removes one user’s recent posts', async () => {
  const post = await app.publish(petr, 'Обычная запись')
  expect((await vslukh('post', post.id)).out).toContain('на стене')
  expect(await vslukh('post', post.id, 'restore')).toMatchObject({ code: 1 })
  await vslukh('post', post.id, 'remove', '--order', 'Требование № 7')
  expect(await statusOf(post.id)).toBe(404)
  const removed = 'удалена модератором, причина: По требованию: Требование № 7'
  expect((await vslukh('post', post.id)).out).toContain(removed)
  expect(await vslukh('post', post.id, 'remove')).toMatchObject({ code: 1 })
  const details = { order: 'Требование № 7', text: 'Обычная запись' }
  expect((await readJournal(app.db, { postId: post.id }))[0]).toMatchObject({ details })
  const unasked = await vslukh('post', post.id, 'restore')
  const question = /удалена по требованию: Требование № 7\. Вернуть её на стену/
  expect(unasked).toMatchObject({ code: 1, err: expect.stringMatching(question) })
  expect(await statusOf(post.id)).toBe(404)
  await vslukh('post', post.id, 'restore', '--yes')
  expect(await statusOf(post.id)).toBe(200)
  // The order was about the earlier removal.
  await vslukh('post', post.id, 'remove')
  await vslukh('post', post.id, 'restore')
  expect(await statusOf(post.id)).toBe(200)

  const wave = [post, await app.publish(petr), await app.reply(petr, post.id)]
  const args = ['post', 'remove', '--user', petr.username, '--since', '2h']
  expect(await vslukh(...args)).toMatchObject({ code: 1, err: expect.stringContaining('--yes') })
  const ever = [...args.slice(0, -1), '99999d', '--dry-run']
  expect((await vslukh(...ever)).out).toContain('3 записи')
  for (const { id } of wave) expect(await statusOf(id)).toBe(200)
  expect((await vslukh(...args, '--yes')).out).toBe('Удалено: 3 записи.\n')
  for (const { id } of wave) expect(await statusOf(id)).toBe(404)
  expect(await findCounterDifferences(app.db)).toEqual([])
  // One mail counts all removed posts, and `--reason` accepts the number of a report reason.
  const again = await app.publish(petr, 'Реклама')
  expect(await vslukh('post', again.id, 'remove', '--reason', '99')).toMatchObject({ code: 2 })
  await vslukh('post', again.id, 'remove', '--reason', '1')
  expect((await readJournal(app.db, { postId: again.id }))[0]?.reason).toBe('Спам или реклама')
  expect((await mailbox.mailAbout(petr.email, /Ваши записи удалены/)).text).toContain(': 3.\n')
})

test('reports are printed in pages with their total, and one call decides many', async () => {
  const author = await app.signUp()
  const ids: string[] = []
  for (let n = 0; n < 13; n++) {
    const { id } = await app.publish(author)
    await report(app, petr, { postId: id })
    ids.push(id)
  }
  const kept = ids.pop() ?? ''
  const keep = await vslukh('report', kept, 'keep')
  expect(keep).toMatchObject({ code: 0, out: 'Запись оставлена.\n' })
  expect(await statusOf(kept)).toBe(200)

  const first = (await vslukh('reports')).out
  expect(first).toContain(`vslukh report ${ids[0]} remove --reason`)
  expect(first).toContain('Показаны 1–10 из 12, дальше: vslukh reports --page 2')
  const second = (await vslukh('reports', '--page', '2')).out
  expect(second).toMatch(new RegExp(`^${ids[10]}  [\\s\\S]*Показаны 11–12 из 12\n$`))
  const third = (await vslukh('reports', '--page', '3')).out
  expect(third).toBe('На странице 3 пусто, а решения ждут: 12 записей. С начала: vslukh reports\n')
  expect((await json('reports')).posts).toHaveLength(12)

  const decided = await vslukh('report', ...ids, kept, 'remove', '--reason', '1')
  expect(decided.code).toBe(1)
  const gone = `${kept}: Открытых жалоб и обжалования нет.\n`
  expect(decided.out).toBe([...ids.map((id) => `${id}: Запись удалена.\n`), gone].join(''))
  expect((await vslukh('reports')).out).toBe('Открытых жалоб нет.\n')
  for (const id of ids) expect(await statusOf(id)).toBe(404)
})

test('recount fixes every wrong counter and lists it', async () => {
  const author = await signUpModerator(app)
  const post = await app.publish(author)
  await app.reply(author, post.id)
  await app.call('POST', `/posts/${post.id}/likes`, { token: author.token })
  expect(await vslukh('recount')).toMatchObject({ code: 0, out: 'Все счётчики верны.\n' })
  await executeOn(
    app.databaseUrl,
    `UPDATE posts SET likes_count = 7, replies_count = 8 WHERE id = ${post.id};
    UPDATE owner_totals SET posts = posts + 1, replies = replies + 2 WHERE user_id = ${author.id};
    UPDATE wall_totals SET posts = posts + 3 WHERE slot = 5`,
  )
  expect(await json('recount', '--dry-run')).toMatchObject({ mended: { length: 5 } })
  expect(await findCounterDifferences(app.db)).toHaveLength(5)
  expect((await vslukh('recount')).out).toContain('Исправлено: 5.')
  expect(await findCounterDifferences(app.db)).toEqual([])
})

test('a dry run of recount and the status say «не меньше» if more differ than a check finds', async () => {
  const author = await app.signUp()
  await executeOn(
    app.databaseUrl,
    `INSERT INTO posts (owner_id, text) SELECT ${author.id}, 'Мимо' FROM generate_series(1, 230);
    UPDATE posts SET likes_count = 7 WHERE owner_id = ${author.id}`,
  )
  expect((await vslukh('recount', '--dry-run')).out).toContain('Было бы исправлено: не меньше 100.')
  await storeCounterCheck(app.db, 100)
  expect((await vslukh('status')).out).toContain('расхождений: не меньше 100')
  expect((await vslukh('recount')).out).toContain('Исправлено: 230.')
  expect(await findCounterDifferences(app.db)).toEqual([])
})

/** Rows in the order in which the triggers that count posts lock them. */
const COUNTED = ['posts ORDER BY id', 'wall_totals ORDER BY slot', 'owner_totals ORDER BY user_id']

test('recount locks posts, then the wall, then owners, each in ascending order, so that it and a publication never wait for each other', async () => {
  const authors = [await app.signUp(), await app.signUp()]
  for (const author of authors) await app.publish(author)
  const ends = async (column: string, table: string) => {
    const [row] = await app.sql<{ low: string; high: string }>`
      SELECT min(${sql.ref(column)}) AS low, max(${sql.ref(column)}) AS high FROM ${sql.table(table)}`
    return row as { low: string; high: string }
  }
  const [post, owner] = [await ends('id', 'posts'), await ends('user_id', 'owner_totals')]
  // The counter that is checked first is wrong in the last row.
  await executeOn(
    app.databaseUrl,
    `UPDATE posts SET likes_count = 7 WHERE id = ${post.high};
    UPDATE posts SET replies_count = 8 WHERE id = ${post.low};
    UPDATE owner_totals SET posts = posts + 1 WHERE user_id = ${owner.high};
    UPDATE owner_totals SET replies = replies + 2 WHERE user_id = ${owner.low};
    UPDATE wall_totals SET posts = posts + 3 WHERE slot = 5`,
  )
  const holders: { client: pg.Client; rows: string }[] = []
  for (const rows of COUNTED) {
    const client = await clientForTest(app.databaseUrl)
    await client.query('BEGIN')
    await client.query(`SELECT FROM ${rows} LIMIT 1 FOR NO KEY UPDATE`)
    holders.push({ client, rows })
  }
  const recount = vslukh('recount')
  for (const { client, rows } of holders) {
    await expect.poll(() => lockWaits(app)).toBe(1)
    const count = async (lock: string) =>
      (await client.query(`SELECT FROM ${rows} ${lock}`)).rowCount
    expect(await count('FOR NO KEY UPDATE SKIP LOCKED'), rows).toBe(await count(''))
    await client.query('ROLLBACK')
  }
  expect((await recount).out).toContain('Исправлено: 5.')
})

test('the journal describes every action in Russian with its details', async () => {
  const author = await app.signUp()
  const post = await app.publish(author, 'Первая строка\nвторая строка')
  for (const line of [
    `moderator add ${author.email}`,
    'ban add domain Спам.example --days 7',
    `user ${author.email} rename novoe_imya`,
    `post ${post.id} remove --order №1234-ИД --note Срочно --block-days 3`,
    `post ${post.id} restore`,
  ]) {
    expect(await vslukh(...line.split(' '), '--yes')).toMatchObject({ code: 0 })
  }
  const { out } = await vslukh('journal')
  for (const words of [
    `назначен модератор\n    Почта: ${author.email}`,
    'запрет регистрации\n    Значение: спам.example\n    Дней: 7',
    `имя изменено (человек ${author.id})\n    Было: ${author.username}\n    Стало: novoe_imya`,
    'Предписание: №1234-ИД\n    Заметка: Срочно\n    Текст: Первая строка\n    вторая строка',
    `закрыта возможность писать (человек ${author.id})`,
    `запись возвращена (запись ${post.id}, человек ${author.id})`,
  ]) {
    expect(out).toContain(words)
  }
  expect(out).toMatch(/\n {4}До \d\d\.\d\d\.\d{4}, \d\d:\d\d GMT\+3\n/)
  expect(out).not.toMatch(/[a-z]+\.[a-z]+ /)
  expect((await vslukh('ban', 'list')).out).toContain('домен спам.example, до')
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
