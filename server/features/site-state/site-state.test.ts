import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { OPEN_SITE } from '../../../contract/pages.ts'
import { readJournal } from '../../kernel/journal/journal.ts'
import { DEVICE } from '../../testing/client.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { WEB_FILES } from '../../testing/fake-web-app.ts'
import { startAt, verifyAt } from '../../testing/sign-in-calls.ts'
import { appForTest, type TestApp } from '../../testing/test-app.ts'
import { selectBans, selectInvitations } from './site-state.repository.ts'
import {
  addBan,
  clearNotice,
  closeSite,
  createSiteStateReader,
  invite,
  openSite,
  removeBan,
  revokeInvitation,
  showNotice,
} from './site-state.service.ts'

const actor = 'olga'
const origin = 'https://wall.example'

const clientToken = 'new browser'

const start = (app: TestApp, email: string, invitation?: string) =>
  app.call('POST', '/registrations', {
    body: { email, clientToken, device: DEVICE, ...(invitation && { invitation }) },
  })
const verify = (app: TestApp, id: string, invitation?: string) =>
  app.call('POST', `/registrations/${id}/verify`, {
    body: { confirmCode: app.codeFor(id), clientToken, ...(invitation && { invitation }) },
  })

async function register(app: TestApp, email: string, invitation?: string) {
  const started = await start(app, email, invitation)
  return started.status >= 400 ? started : verify(app, started.body.id, invitation)
}

const openByInvitation = ({ db }: TestApp) =>
  openSite(db, { part: 'registrations', isInviteOnly: true, actor })

/** Makes an invitation for one person, unless told otherwise. Returns the token in its link too. */
async function inviteTo({ db }: TestApp, more: { uses?: number; note?: string } = {}) {
  const made = await invite(db, { days: 7, uses: 1, note: null, origin, actor, ...more })
  return { ...made, token: made.link.split('#')[1] ?? '' }
}

async function isValid(app: TestApp, invitation: string): Promise<boolean> {
  const { body } = await app.call('POST', '/invitations/validation', { body: { invitation } })
  return body.isValid
}

test('closed registrations refuse newcomers with the reason, and nobody who has an account', async () => {
  const app = await appForTest()
  const petr = await app.signUp()
  await closeSite(app.db, { part: 'registrations', reason: 'Разбираем спам', actor })
  const refused = await register(app, 'new@example.org')
  expectRefusal(refused, 'REGISTRATION_CLOSED')
  expect(refused.body.message).toBe('Регистрация закрыта: Разбираем спам')
  const { id } = (await startAt(app, '/logins', { email: petr.email })).body
  expect((await verifyAt(app, '/logins', { id, code: app.codeFor(id) })).status).toBe(200)
  await openSite(app.db, { part: 'registrations', actor })
  expect((await register(app, 'new@example.org')).status).toBe(200)
  const acts = await readJournal(app.db, { sinceSeconds: 60 })
  expect(acts).toMatchObject([
    { actor, action: 'registrations.open' },
    { actor, action: 'registrations.close', reason: 'Разбираем спам' },
  ])
})

test('an invitation lets one person in, once, while it is good', async () => {
  const app = await appForTest()
  await closeSite(app.db, { part: 'registrations', reason: 'Только свои', actor })
  const { link, token } = await inviteTo(app)
  expect(link).toBe(`${origin}/invitation#${token}`)
  expectRefusal(await register(app, 'a@example.org', `${token}x`), 'REGISTRATION_CLOSED')
  expect((await register(app, 'a@example.org', token)).status).toBe(200)
  expectRefusal(await register(app, 'b@example.org', token), 'REGISTRATION_CLOSED')

  const late = await inviteTo(app)
  await app.db
    .updateTable('invitations')
    .set({ expires_at: new Date(0) })
    .execute()
  expectRefusal(await register(app, 'b@example.org', late.token), 'REGISTRATION_CLOSED')
  expect(JSON.stringify(await readJournal(app.db, { sinceSeconds: 60 }))).not.toContain(token)
})

test('registrations by invitation refuse newcomers with that reason, and nobody who has an account', async () => {
  const app = await appForTest()
  const petr = await app.signUp()
  await openByInvitation(app)
  const site = { ...OPEN_SITE, isInviteOnly: true }
  expect(await createSiteStateReader(app.db)()).toEqual(site)
  const refused = await register(app, 'new@example.org')
  expectRefusal(refused, 'REGISTRATION_CLOSED')
  expect(refused.body.message).toBe('Регистрация по приглашениям')
  expect((await startAt(app, '/logins', { email: petr.email })).status).toBe(201)

  await closeSite(app.db, { part: 'registrations', reason: 'Ночь', actor })
  const closed = await register(app, 'new@example.org')
  expect(closed.body.message).toBe('Регистрация закрыта: Ночь')
  await openSite(app.db, { part: 'registrations', actor })
  expect(await createSiteStateReader(app.db)()).toEqual(OPEN_SITE)
  expect((await register(app, 'new@example.org')).status).toBe(200)
  const acts = (await readJournal(app.db, { sinceSeconds: 60 })).map(({ action }) => action)
  expect(acts).toEqual(['registrations.open', 'registrations.close', 'registrations.invite-only'])
})

test('an invitation lets in as many people as it is for, whose codes were mailed before it was used up too', async () => {
  const app = await appForTest()
  const { id, token, until } = await inviteTo(app, { uses: 2, note: 'Клуб' })
  // Nobody needs it yet, so it is not used.
  expect((await register(app, 'a@example.org', token)).status).toBe(200)
  expect(await isValid(app, 'made up')).toBe(true)
  await openByInvitation(app)
  expect(await isValid(app, 'made up')).toBe(false)

  const late: string = (await start(app, 'late@example.org', token)).body.id
  for (const email of ['b@example.org', 'c@example.org']) {
    expect(await isValid(app, token)).toBe(true)
    expect((await register(app, email, token)).status).toBe(200)
  }
  expect(await isValid(app, token)).toBe(false)
  const refused = await verify(app, late, token)
  expectRefusal(refused, 'REGISTRATION_CLOSED')
  expect(refused.body.message).toBe('Приглашение больше не действует. Попросите новое')
  const shown = { id, note: 'Клуб', uses: 2, usesLeft: 0, until }
  expect(await selectInvitations(app.db)).toEqual([shown])

  // The person has lost nothing: the same code works with another invitation.
  expect((await verify(app, late, (await inviteTo(app)).token)).status).toBe(200)
  // Who has an account uses nothing up.
  const { token: third } = await inviteTo(app)
  expect((await register(app, 'b@example.org', third)).status).toBe(200)
  expect(await isValid(app, third)).toBe(true)
})

test('an invitation lets in as many of the people who race for it as it is for', async () => {
  const app = await appForTest()
  await openByInvitation(app)
  const { token } = await inviteTo(app, { uses: 3 })
  const emails = Array.from({ length: 8 }, (_, index) => `r${index}@example.org`)
  const starts = await Promise.all(emails.map((email) => start(app, email, token)))
  const answers = await Promise.all(starts.map(({ body }) => verify(app, body.id, token)))
  expect(answers.map(({ status }) => status).sort()).toEqual([
    ...[200, 200, 200],
    ...[403, 403, 403, 403, 403],
  ])
  expect(await selectInvitations(app.db)).toMatchObject([{ uses: 3, usesLeft: 0 }])
  const { users } = await app.db
    .selectFrom('users')
    .select(({ fn }) => fn.countAll<string>().as('users'))
    .executeTakeFirstOrThrow()
  expect(users).toBe('3')
})

test('a revoked invitation lets nobody in, and the journal says who made and revoked it, and not what its link contains', async () => {
  const app = await appForTest()
  await openByInvitation(app)
  const { id, token } = await inviteTo(app, { uses: 5, note: 'Клуб' })
  expect((await register(app, 'a@example.org', token)).status).toBe(200)
  expect(await revokeInvitation(app.db, { id, actor })).toBe(true)
  expect(await revokeInvitation(app.db, { id, actor })).toBe(false)
  expect(await isValid(app, token)).toBe(false)
  expectRefusal(await register(app, 'b@example.org', token), 'REGISTRATION_CLOSED')
  expect(await selectInvitations(app.db)).toEqual([])
  const acts = await readJournal(app.db, { sinceSeconds: 60 })
  expect(acts).toMatchObject([
    { actor, action: 'invite.revoke', details: { id, note: 'Клуб', uses: 5, usesLeft: 4 } },
    { actor, action: 'invite', details: { id, note: 'Клуб', uses: 5, days: 7 } },
    { action: 'registrations.invite-only' },
  ])
  expect(JSON.stringify(acts)).not.toContain(token)
})

test('closed writing refuses posts, replies and likes at once on a running server, and not deletions', async () => {
  const app = await appForTest()
  const olga = await app.signUp()
  const post = await app.publish(olga)
  const { token } = olga
  await closeSite(app.db, { part: 'writing', reason: 'Переезжаем', actor })
  const write = { token, body: { text: 'Можно?' } }
  const refused = await app.call('POST', '/posts', write)
  expectRefusal(refused, 'WRITING_CLOSED')
  expect(refused.body.message).toBe('Писать пока нельзя: Переезжаем')
  expectRefusal(await app.call('POST', `/posts/${post.id}/replies`, write), 'WRITING_CLOSED')
  expectRefusal(await app.call('POST', `/posts/${post.id}/likes`, { token }), 'WRITING_CLOSED')
  expect((await app.call('GET', '/posts', { token })).status).toBe(200)
  expect(await createSiteStateReader(app.db)()).toEqual({
    ...OPEN_SITE,
    writingClosed: 'Переезжаем',
  })
  await openSite(app.db, { part: 'writing', actor })
  expect((await app.call('POST', '/posts', write)).status).toBe(201)
})

test('a notice stands on every page of every node within a second, until its end or until it is taken back', async () => {
  const app = await appForTest({ webFiles: WEB_FILES })
  const second = await appForTest({ webFiles: WEB_FILES, databaseUrl: app.databaseUrl })
  const read = createSiteStateReader(app.db)
  const pages = () =>
    Promise.all(
      [`${app.url}/`, `${second.url}/`, `${second.url}/settings`].map(async (url) =>
        (await fetch(url)).text(),
      ),
    )
  const expectOnPages = (text: string, isShown: boolean) =>
    expect
      .poll(async () => (await pages()).map((html) => html.includes(text)), { timeout: 5000 })
      .toEqual([isShown, isShown, isShown])

  const first = await showNotice(app.db, { text: ' В полночь <перезапуск> ', actor })
  expect(first).toEqual({ text: 'В полночь <перезапуск>', until: null })
  const before = await read()
  expect(before).toMatchObject({ ...OPEN_SITE, notice: { text: 'В полночь <перезапуск>' } })
  await expectOnPages('В полночь', true)

  const shown = await showNotice(app.db, { text: 'В час перезапуск', seconds: 7200, actor })
  expect(shown?.until?.getTime()).toBeGreaterThan(Date.now() + 7_000_000)
  const { notice } = await createSiteStateReader(second.db)()
  expect(notice).toMatchObject({ text: 'В час перезапуск' })
  expect(notice?.id).not.toBe(before.notice?.id)
  await expectOnPages('В час перезапуск', true)
  await app.db.updateTable('site_state').set({ notice_until: sql<Date>`now()` }).execute()
  expect(await createSiteStateReader(app.db)()).toEqual(OPEN_SITE)
  await expectOnPages('В час перезапуск', false)

  await showNotice(app.db, { text: 'В час перезапуск', actor })
  const again = await createSiteStateReader(app.db)()
  expect(again.notice?.text).toBe('В час перезапуск')
  expect(again.notice?.id).not.toBe(notice?.id)
  await clearNotice(app.db, { actor })
  expect(await createSiteStateReader(app.db)()).toEqual(OPEN_SITE)
  const acts = await readJournal(app.db, { sinceSeconds: 60 })
  expect(acts.map(({ action, details }) => [action, details.text])).toEqual([
    ['notice.clear', undefined],
    ['notice.show', 'В час перезапуск'],
    ['notice.show', 'В час перезапуск'],
    ['notice.show', 'В полночь <перезапуск>'],
  ])
})

test('a notice is one line of visible characters that is not too long, and another shows nothing', async () => {
  const app = await appForTest()
  const show = (text: string) => showNotice(app.db, { text, actor })
  for (const text of ['', ' \u200b', 'а\nб', 'а\u2028б', 'а\u0007б', 'а'.repeat(201)]) {
    expect(await show(text), JSON.stringify(text)).toBeUndefined()
  }
  expect(await createSiteStateReader(app.db)()).toEqual(OPEN_SITE)
  expect(await readJournal(app.db, { sinceSeconds: 60 })).toEqual([])
  expect(await show('😀'.repeat(200))).toMatchObject({ until: null })
})

test('a banned domain, network or e-mail cannot register until the ban ends or is removed', async () => {
  const app = await appForTest({ config: { trustProxy: ['127.0.0.1/32'] } })
  const ban = (kind: 'domain' | 'network' | 'email', value: string, days: number | null = null) =>
    addBan(app.db, {
      ...{ kind, value, reason: null, actor, coversAll: false },
      seconds: days && days * 86_400,
    }).then((added) => added?.id)
  const startFrom = async (email: string, ip = '192.0.2.1') =>
    (await startAt(app, '/registrations', { email, ip })).body.code ?? 'ok'

  const domain = await ban('domain', 'Spam.Example')
  await ban('network', '203.0.113.0/24', 7)
  await ban('network', '2001:db8::/32')
  await ban('email', 'Some.One+tag@gmail.com')
  expect(
    await Promise.all([ban('network', '1.2.3'), ban('network', '10.0.0.0/40'), ban('email', 'x')]),
  ).toEqual([undefined, undefined, undefined])
  // What Node takes for an address and PostgreSQL does not would break every registration.
  for (const value of ['fe80::1%eth0', 'fe80::1%eth0/64', '::ffff:10.0.0.0/90', '10.0.0.0/8/9']) {
    expect(await ban('network', value), value).toBeUndefined()
  }
  await ban('network', '::ffff:198.51.100.7')
  await ban('network', '::FFFF:c612:0/111')
  for (const [email, ip] of [
    ['a@spam.example'],
    ['a@mail.spam.example'],
    ['a@good.example', '203.0.113.77'],
    ['a@good.example', '203.0.113.5:1234'],
    ['a@good.example', '2001:db8:1::5'],
    ['a@good.example', '[2001:db8:1::5]:443'],
    ['a@good.example', '[2001:db8:1::5]'],
    ['a@good.example', '198.51.100.7'],
    ['a@good.example', '::ffff:198.19.255.255'],
    ['someone@googlemail.com'],
  ] as [string, string?][]) {
    expect(await startFrom(email, ip), email).toBe('REGISTRATION_CLOSED')
  }
  for (const [email, ip] of [['a@notspam.example'], ['a@good.example', '203.0.114.1']] as [
    string,
    string?,
  ][]) {
    expect(await startFrom(email, ip), email).toBe('ok')
  }
  expect((await selectBans(app.db)).map(({ value }) => value)).toEqual([
    'spam.example',
    '203.0.113.0/24',
    '2001:db8::/32',
    'someone@gmail.com',
    '198.51.100.7',
    '198.18.0.0/15',
  ])
  expect(await removeBan(app.db, { id: domain ?? '', actor })).toBe(true)
  expect(await removeBan(app.db, { id: domain ?? '', actor })).toBe(false)
  expect(await startFrom('a@spam.example')).toBe('ok')
  await app.db
    .updateTable('bans')
    .set({ until: new Date(0) })
    .where('kind', '=', 'network')
    .execute()
  expect(await startFrom('b@good.example', '203.0.113.77')).toBe('ok')
})
