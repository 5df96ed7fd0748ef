import { expect, test } from 'vitest'
import { readJournal } from '../server/kernel/journal/journal.ts'
import { maskEmail } from '../server/kernel/mail/email-address.ts'
import { newEmail, storePasskey } from '../server/testing/calls/account-fixture.ts'
import { isSignedIn, storedEmail, undoChange } from '../server/testing/calls/email-change-calls.ts'
import { report } from '../server/testing/calls/moderation-calls.ts'
import { clientHeaders, startAt } from '../server/testing/calls/sign-in-calls.ts'
import type { TestUser } from '../server/testing/http/client.ts'
import { expectRefusal } from '../server/testing/http/expect-refusal.ts'
import { operatedWall } from '../server/testing/operated-wall.ts'
import { envOf, runHere } from '../server/testing/process/run-command.ts'
import { appForTest, type TestApp } from '../server/testing/test-app.ts'

const { app, mailbox, petr, vslukh, json, statusOf } = await operatedWall()

test('user finds a person by name, e-mail and id, blocks, signs out and renames them; nobody can take the old name, but it can be given back', async () => {
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
  const err = `${vera.username} — прежнее имя пользователя vera_new.\n`
  expect(await vslukh('user', vera.username)).toMatchObject({ code: 0, err })
  expect((await app.call('GET', `/posts/${post.id}`)).body.owner.username).toBe('vera_new')
  const takeName = (user: TestUser, username: string) =>
    app.call('PATCH', '/users/current/profile', { token: user.token, body: { username } })
  for (const user of [again, petr]) {
    expectRefusal(await takeName(user, vera.username), 'USERNAME_ALREADY_EXISTS')
  }
  expect(await vslukh('user', vera.id, 'rename', vera.username)).toMatchObject({ code: 0 })
  expect((await takeName(again, 'vera_other')).status).toBe(200)
  expect((await takeName(again, vera.username)).status).toBe(200)
  expect(await vslukh('user', vera.id, 'rename', 'vera_new')).toMatchObject({ code: 0 })
  // The output shows the name of the reason, not its number.
  await vslukh('user', 'vera_new', 'block', '--reason', '1', '--days', '2', '--yes')
  expect((await vslukh('user', 'vera_new')).out).toMatch(/не может писать до .+: Спам или реклама/)
  expect(await vslukh('user', 'vera_new', 'unblock')).toMatchObject({ code: 0 })
  expect(await vslukh('user', 'vera_new', 'unblock')).toMatchObject({ code: 1 })
})

const LOST = ['--reason', 'Потеряла ящик', '--yes']

test('user email moves an account to another mailbox, tells both addresses why, signs everybody out, and the old address can undo it', async () => {
  const vera = await app.signUp()
  const email = newEmail()
  const move = (...args: string[]) => vslukh('user', vera.id, 'email', ...args)
  expect(await move(email, '--reason', 'Потеряла ящик')).toMatchObject({ code: 1 })
  expect(await move(email, '--yes')).toMatchObject({ code: 2 })
  expect(await move(email, ...LOST, '--dry-run')).toMatchObject({ code: 0 })
  expect(await isSignedIn(app, vera)).toBe(true)
  await storePasskey(app, vera)
  expect(await json('user', vera.id)).toMatchObject({ passkeys: 1 })
  expect(await move(email, ...LOST)).toMatchObject({ code: 0 })
  expect(await json('user', vera.id)).toMatchObject({ passkeys: 0 })
  expect(await isSignedIn(app, vera)).toBe(false)
  expectRefusal(await startAt(app, '/logins', { email: vera.email }), 'USER_NOT_FOUND')
  expect((await app.signIn(email)).id).toBe(vera.id)

  const isNotice = ({ subject }: { subject: string }) => subject.startsWith('Почта аккаунта')
  await expect.poll(() => mailbox.mails.filter(isNotice).length).toBe(2)
  for (const to of [vera.email, email]) {
    const notice = mailbox.mails.find((mail) => isNotice(mail) && mail.to === to)
    expect(notice?.text).toContain('Причина: Потеряла ящик')
    expect(notice?.text.includes('/email-undo#')).toBe(to === vera.email)
  }
  const [act] = await readJournal(app.db, { userId: vera.id })
  const details = { from: maskEmail(vera.email), to: maskEmail(email) }
  expect(act).toMatchObject({ action: 'user.email', reason: 'Потеряла ящик', details })

  const changes = app.db.selectFrom('email_changes').select('id').where('user_id', '=', vera.id)
  const { id } = await changes.orderBy('number').executeTakeFirstOrThrow()
  expect((await undoChange(app, { id, secret: app.undoSecretFor(id) })).status).toBe(204)
  expect((await app.signIn(vera.email)).id).toBe(vera.id)
  expect(await json('user', vera.id)).toMatchObject({ passkeys: 1 })
})

test('user email refuses a taken, a banned and a malformed address', async () => {
  const vera = await app.signUp()
  const { id: banId } = await json('ban', 'add', 'domain', 'banned.example')
  for (const [email, code] of [
    [petr.email.toUpperCase(), 1],
    [vera.email, 1],
    ['vera@banned.example', 1],
    ['vera@exаmple.org', 1],
    ['vera', 2],
  ] as const) {
    expect(await vslukh('user', vera.id, 'email', email, ...LOST), email).toMatchObject({ code })
  }
  expect(await isSignedIn(app, vera)).toBe(true)
  expect(await storedEmail(app, vera)).toBe(vera.email)
  await vslukh('ban', 'remove', banId)
})

const BLOCK = ['--reason', 'Спам', '--block-days', '3', '--yes']

/** Registers from a network address, and backdates the registration. */
async function registerFrom(app: TestApp, who: { email: string; ip: string; daysAgo?: number }) {
  const { email, ip, daysAgo = 0 } = who
  const { id, username } = await app.signIn(email, undefined, clientHeaders(ip).headers)
  await app.sql`UPDATE users SET created_at = created_at - ${daysAgo} * interval '1 day'
    WHERE id = ${id}`
  return { id, username, email }
}

test('people lists recent registrations, newest first, with activity and accounts of the same mailbox or network', async () => {
  const raided = await appForTest({ config: { trustProxy: ['127.0.0.1/32'] } })
  const run = (...args: string[]) => runHere(envOf(raided), ['people', ...args])
  expect((await run()).out).toBe('За это время никто не зарегистрировался.\n')
  const [home, cafe] = ['203.0.113.5', '198.51.100.7']
  const old = { ip: cafe, daysAgo: 40 }
  const twin = await registerFrom(raided, { ...old, email: 'ka.te@gmail.com' })
  await registerFrom(raided, { ...old, email: 'kate@example.org' })
  const kate = await registerFrom(raided, { email: 'Kate+wall@googlemail.com', ip: home })
  const vera = await registerFrom(raided, { email: 'vera@example.org', ip: cafe })
  const wave: string[] = []
  for (let n = 0; n < 7; n++) {
    wave.push((await registerFrom(raided, { email: `raid${n}@spam.example`, ip: home })).username)
  }
  const author = await raided.signIn(kate.email)
  const post = await raided.publish(author, 'Купите гараж')
  const removed = await raided.publish(author, 'Купите ещё')
  await raided.reply(author, post.id)
  for (const { id } of [post, removed]) {
    await report(raided, await raided.signIn('vera@example.org'), { postId: id })
  }
  await runHere(envOf(raided), ['report', removed.id, 'remove', ...BLOCK])

  const { people, total, next } = JSON.parse((await run('--json')).out)
  expect([people.length, total, next]).toEqual([9, 9, null])
  expect(people.map(({ username }: typeof kate) => username)).toEqual([
    ...wave.toReversed(),
    vera.username,
    kate.username,
  ])
  expect(people.at(-1)).toMatchObject({
    ...kate,
    ...{ posts: 1, replies: 1, hidden: 1, reported: 2, removed: 1, kept: 0 },
    block_reason: 'Спам',
    sameMailbox: { total: 1, usernames: [twin.username] },
    sameNetwork: { total: 7, usernames: wave.toReversed().slice(0, 5) },
  })
  // The other account of this network is forty days older.
  expect(people.at(-2)).toMatchObject({ ...vera, sameNetwork: { total: 0 } })
  const { out } = await run()
  expect(out).toMatch(/kate\+wall@googlemail.com, с .*, не может писать\n/i)
  const activity = '    записей: 1, ответов: 1, скрыто: 1; жалоб: 2, открыто: 1; последний визит: '
  expect(out).toContain(activity)
  expect(out).toContain(`тот же ящик: ${twin.username}; та же сеть в те же сутки: ${wave[6]}, `)
  expect(out).toContain(`${wave[2]} и ещё 2\n`)
  expect((await run('--since', '60d', '--json')).out).toContain('kate@example.org')
})

test('a terminal gets no control characters, whoever wrote them', async () => {
  const vera = await app.signUp()
  await app.sql`INSERT INTO blocks (user_id, reason, blocked_by)
    VALUES (${vera.id}, ${'Спам\u001b[2J\u009b2J'}, 'masha')`
  expect((await vslukh('user', vera.id)).out).toContain('бессрочно: Спам[2J2J, ')
  expect((await vslukh('user', vera.id, '--json')).out).not.toMatch(/[\u0080-\u009f]/)
  expect((await vslukh('user', 'vera\u001b[2J')).err).not.toContain('\u001b')
})

test('people and user print pages, each with the command for the next', async () => {
  await app.sql`INSERT INTO users (username, email, email_key)
    SELECT 'crowd_' || n, n || '@example.org', n || '@example.org' FROM generate_series(1, 60) n`
  const writer = await app.signUp()
  const first = await app.publish(writer, 'Самая первая\nсо второй строкой')
  await app.sql`INSERT INTO posts (owner_id, text)
    SELECT ${writer.id}, 'Запись ' || n FROM generate_series(1, 60) n`
  for (const [command, all] of [
    [['people'], 60],
    [['user', writer.username], 61],
  ] as const) {
    const seen: string[] = []
    let page: string[] = [...command]
    for (let pages = 1; page.length > 0; pages++) {
      expect(pages).toBeLessThan(5)
      const { out } = await vslukh(...page)
      expect(out.split('\n').length).toBeLessThan(85)
      seen.push(...(out.match(/^\S*crowd_\d+|Запись \d+|Самая первая …/gm) ?? []))
      page = (/Дальше: vslukh (.*)$/m.exec(out)?.[1] ?? '').split(' ').filter(Boolean)
    }
    expect(new Set(seen).size).toBe(all)
    expect(seen).toHaveLength(all)
  }
  const wrong = await vslukh('people', '--before', 'завтра')
  expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('--before') })
  expect((await vslukh('user', writer.id, '--before', first.id)).out).toBe('Старше ничего нет.\n')
})

test('user lists every post of a person with its state', async () => {
  const vera = await app.signUp()
  const none = (await vslukh('user', vera.id)).out
  expect(none).toMatch(/^С нами с .*, может писать, последний визит \d\d\./m)
  expect(none).toContain('\n\nНичего не написано.\n')
  const [shown, removed, evidence] = [
    await app.publish(vera, 'Видна всем'),
    await app.publish(vera, 'Реклама'),
    await app.publish(vera, 'Улика'),
  ]
  const reply = await app.reply(vera, shown.id)
  await vslukh('post', removed.id, 'remove')
  await report(app, petr, { postId: evidence.id })
  await app.call('DELETE', `/posts/${evidence.id}`, { token: vera.token })
  const { out } = await vslukh('user', vera.username)
  const lines = [
    `${reply.id}  .* GMT\\+3, ответ на ${shown.id}: .*`,
    `${evidence.id}  .*, запись, удалено автором: Улика`,
    `${removed.id}  .*, запись, удалено модератором: Реклама`,
    `${shown.id}  .* GMT\\+3, запись: Видна всем`,
  ]
  expect(out).toMatch(new RegExp(`\n${lines.join('\n')}\n$`))
  const written = [{ id: reply.id }, { id: evidence.id, archived: 'deleted' }, {}, { id: shown.id }]
  const { username } = vera
  expect(await json('user', vera.id)).toMatchObject({ username, written, next: null })
})

test('moderators are added once, listed and removed once', async () => {
  const { id, email, username } = await app.signUp()
  expect(await vslukh('moderator', 'add', email)).toMatchObject({ code: 0 })
  expect(await vslukh('moderator', 'add', email.toUpperCase())).toMatchObject({ code: 1 })
  expect((await vslukh('moderator', 'list')).out).toContain(`${username}, с `)
  await vslukh('user', id, 'block', '--reason', 'Спам', '--yes')
  expect((await vslukh('moderator', 'list')).out).toContain(`${username}, не может писать, с `)
  for (const code of [0, 1])
    expect(await vslukh('moderator', 'remove', email)).toMatchObject({ code })
  // As setup does.
  expect((await vslukh('moderator', 'add', email, '--first')).out).toContain('уже назначались')
  expect((await vslukh('moderator', 'list')).out).not.toContain(email)
})

test('registrations and writing are closed with a reason and opened, and bans are added and removed', async () => {
  expect(await vslukh('close', 'registrations')).toMatchObject({ code: 2 })
  expect(await vslukh('close', 'doors', '--reason', 'x')).toMatchObject({ code: 2 })
  await vslukh('close', 'registrations', '--reason', 'Спам')
  await vslukh('close', 'writing', '--reason', 'Переезд')
  const closed =
    'Доступ:     регистрация закрыта (Спам), запись на стену закрыта (Переезд); запретов: 0, '
  expect((await vslukh('status')).out).toContain(closed)
  await app.sql`UPDATE installation SET secret_fingerprint = ''`
  const doctor = (await vslukh('doctor')).out
  await app.sql`UPDATE installation SET secret_fingerprint = NULL`
  expect(doctor).toMatch(/✗ секрет не подходит .*[^.]\.$/m)
  expect(doctor).toContain('! регистрация закрыта: Спам; запись на стену закрыта: Переезд. ')
  expect(doctor).toContain('vslukh open registrations, vslukh open writing')
  for (const closedOne of ['registrations', 'writing']) await vslukh('open', closedOne)
  const opened = 'Доступ:     регистрация открыта, запись на стену открыта; '
  expect((await vslukh('status')).out).toContain(opened)

  expect(await vslukh('ban', 'add', 'network', 'nonsense')).toMatchObject({ code: 2 })
  const { id } = await json('ban', 'add', 'domain', 'spam.example', '--days', '7')
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
  expect(await vslukh('ban', 'remove', meant.id)).toMatchObject({ code: 0 })
  expect(await vslukh('ban', 'remove', id)).toMatchObject({ code: 0 })
  expect(await vslukh('ban', 'remove', id)).toMatchObject({ code: 1 })
  const acts = await readJournal(app.db, { sinceSeconds: 600 })
  const own = acts.filter(({ action }) => /^(?:ban|invite|registrations|writing)/.test(action))
  const gates = ['registrations.close', 'writing.close', 'registrations.open', 'writing.open']
  const bans = ['ban.add', 'ban.add', 'ban.add', 'ban.remove', 'ban.remove']
  // Earlier tests ban too.
  const last = own.slice(0, gates.length + bans.length)
  expect(last.map(({ action }) => action).reverse()).toEqual([...gates, ...bans])
})

test('a wall ends on a day at least 30 days ahead, and until then its end can be taken back', async () => {
  const day = (inDays: number) =>
    new Date(Date.now() + inDays * 86_400_000).toISOString().slice(0, 10)
  for (const on of ['завтра', '2027-02-30', '31.01.2027', day(29)]) {
    expect(await vslukh('close', 'wall', '--on', on), on).toMatchObject({ code: 2 })
  }
  expect(await vslukh('close', 'wall')).toMatchObject({ code: 2 })
  const { out } = await vslukh('close', 'wall', '--on', '2099-01-31')
  expect(out).toContain('Стена закроется 31\u00a0января\u00a02099, в полночь по Москве')
  expect(out).toContain('увидят это с 1\u00a0января\u00a02099')
  expect((await vslukh('status')).out).toContain('Закрытие:   31\u00a0января\u00a02099')
  expect(await json('status')).toMatchObject({ ends_at: '2099-01-30T21:00:00.000Z' })
  expect(await vslukh('open', 'wall')).toMatchObject({ code: 0 })
  expect(await vslukh('open', 'wall')).toMatchObject({ code: 1 })
  expect((await vslukh('status')).out).not.toContain('Закрытие')
  expect((await vslukh('journal', '--since', '1h')).out).toContain('стена не закроется')
})

test('registrations stay invite-only until they are opened to all; invitations are counted, listed and revoked', async () => {
  expect(await vslukh('open', 'writing', '--invite-only')).toMatchObject({ code: 2 })
  const opened = await vslukh('open', 'registrations', '--invite-only')
  expect(opened.out).toBe('Регистрация по приглашениям. Пригласить: vslukh invite\n')
  expect((await vslukh('status')).out).toContain('Доступ:     регистрация по приглашениям, запись')
  const doctor = (await vslukh('doctor')).out
  expect(doctor).toContain('✓ регистрация по приглашениям, запись на стену открыта')
  await vslukh('close', 'registrations', '--reason', 'Ночь')
  expect((await vslukh('doctor')).out).toContain('vslukh open registrations --invite-only')
  await vslukh('open', 'registrations', '--invite-only')

  const many = await vslukh('invite', '--uses', '3', '--note', 'Клуб', '--days', '2')
  const printed = /^\S+\/invitation#\S+\nПриглашение (\d+) действует до .*, для 3 человек\.\n$/
  const [, id] = printed.exec(many.out) ?? []
  const list = async () => (await vslukh('invite', 'list')).out
  expect(await list()).toMatch(new RegExp(`^${id}  осталось 3 из 3, до .*\\. Клуб$`, 'm'))
  expect(await vslukh('invite', 'revoke', '77777')).toMatchObject({ code: 1 })
  expect(await vslukh('invite', 'revoke', 'x')).toMatchObject({ code: 1 })
  expect(await vslukh('invite', 'revoke', `${id}`)).toMatchObject({ code: 0 })
  expect(await list()).not.toContain('Клуб')
  const acts = (await vslukh('journal', '--since', '10m')).out
  expect(acts).toContain('masha  регистрация по приглашениям\n')
  const facts = `Заметка: Клуб\n    Дней: 2\n    Приглашение ${id}, мест: 3\n`
  expect(acts).toContain(`masha  приглашение\n    ${facts}`)
  expect(acts).toMatch(/masha {2}приглашение отозвано\n +Заметка: Клуб\n +До .*\n +Приглашение/)
  expect(acts).toContain(` ${id}, мест: 3, осталось: 3\n`)
  await vslukh('open', 'registrations')
  expect((await vslukh('status')).out).toContain('Доступ:     регистрация открыта, ')
})

test('status names the addresses that receive mails about reports', async () => {
  expect((await vslukh('status')).out).toContain('письма о них: никому, MODERATOR_EMAIL не задан')
  const env = { ...envOf(app), MODERATOR_EMAIL: 'anna@example.org, boris@example.org' }
  const { out } = await runHere(env, ['status'])
  expect(out).toContain('письма о них: anna@example.org, boris@example.org\n')
})

test('notice sets, prints and clears a line for all visitors', async () => {
  const err = expect.stringContaining('одна строка с видимыми символами, не длиннее 200')
  expect(await vslukh('notice', 'Первая\nвторая')).toMatchObject({ code: 2, err })
  expect(await vslukh('notice', 'Без', 'кавычек')).toMatchObject({ code: 2 })
  expect(await vslukh('notice', 'Перезапуск', '--until', 'утром')).toMatchObject({ code: 2 })
  expect(await vslukh('notice', 'clear', '--until', '2h')).toMatchObject({ code: 2 })
  expect((await vslukh('notice')).out).toBe('Объявления нет.\n')

  const shown = await vslukh('notice', 'В полночь перезапуск', '--until', '2h')
  expect(shown.out).toMatch(/^Под шапкой у всех: В полночь перезапуск\nДо \d\d\.\d\d\./)
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
})
