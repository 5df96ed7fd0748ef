import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { OPEN_SITE } from '../../../contract/pages.ts'
import { readJournal } from '../../kernel/journal/journal.ts'
import { DEVICE } from '../../testing/client.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { WEB_FILES } from '../../testing/fake-web-app.ts'
import { countCodes, startAt, verifyAt } from '../../testing/sign-in-calls.ts'
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

test.each([
  ['closed registrations', false, 'Регистрация закрыта: Разбираем спам'],
  ['registrations by invitation', true, 'Регистрация по приглашениям'],
])(
  '%s refuse newcomers with that reason, and nobody who has an account',
  async (_what, isInviteOnly, message) => {
    const app = await appForTest()
    const petr = await app.signUp()
    const registrationsClosed = isInviteOnly ? null : 'Разбираем спам'
    if (isInviteOnly) await openByInvitation(app)
    else await closeSite(app.db, { part: 'registrations', reason: 'Разбираем спам', actor })
    const site = { ...OPEN_SITE, isInviteOnly, registrationsClosed }
    expect(await createSiteStateReader(app.db)()).toEqual(site)
    const refused = await register(app, 'new@example.org')
    expectRefusal(refused, 'REGISTRATION_CLOSED')
    expect(refused.body.message).toBe(message)
    const { id } = (await startAt(app, '/logins', { email: petr.email })).body
    expect((await verifyAt(app, '/logins', { id })).status).toBe(200)

    await openSite(app.db, { part: 'registrations', actor })
    expect(await createSiteStateReader(app.db)()).toEqual(OPEN_SITE)
    expect((await register(app, 'new@example.org')).status).toBe(200)
    expect(await readJournal(app.db, { sinceSeconds: 60 })).toMatchObject([
      { actor, action: 'registrations.open', reason: null },
      {
        actor,
        action: isInviteOnly ? 'registrations.invite-only' : 'registrations.close',
        reason: registrationsClosed,
      },
    ])
  },
)

test('an invitation lets in as many people as it is for, however they race, and one of them later with another', async () => {
  const app = await appForTest()
  const { id, token, until, link } = await inviteTo(app, { uses: 3, note: 'Клуб' })
  expect(link).toBe(`${origin}/invitation#${token}`)
  // Nobody needs it yet, so it is not used.
  expect((await register(app, 'a@example.org', token)).status).toBe(200)
  expect(await isValid(app, 'made up')).toBe(true)
  await openByInvitation(app)
  expect(await isValid(app, 'made up')).toBe(false)
  expectRefusal(await register(app, 'b@example.org', `${token}x`), 'REGISTRATION_CLOSED')
  expect(await isValid(app, token)).toBe(true)

  const emails = Array.from({ length: 8 }, (_, index) => `r${index}@example.org`)
  const starts = await Promise.all(emails.map((email) => start(app, email, token)))
  const answers = await Promise.all(starts.map(({ body }) => verify(app, body.id, token)))
  expect(countCodes(answers)).toEqual({ ok: 3, REGISTRATION_CLOSED: 5 })
  expect(await isValid(app, token)).toBe(false)
  const shown = { id, note: 'Клуб', uses: 3, usesLeft: 0, until }
  expect(await selectInvitations(app.db)).toEqual([shown])
  const late = answers.findIndex(({ status }) => status === 403)
  expect(answers[late]?.body.message).toBe('Приглашение больше не действует. Попросите новое')

  // The person has lost nothing: the same code works with another invitation.
  const other = await inviteTo(app)
  expect((await verify(app, starts[late]?.body.id, other.token)).status).toBe(200)
  // Who has an account uses nothing up.
  const { token: third } = await inviteTo(app)
  expect((await register(app, 'a@example.org', third)).status).toBe(200)
  expect(await isValid(app, third)).toBe(true)
})

test('an invitation lets a person in while registrations are closed', async () => {
  const app = await appForTest()
  await closeSite(app.db, { part: 'registrations', reason: 'Только свои', actor })
  const { token } = await inviteTo(app)
  expectRefusal(await register(app, 'a@example.org', `${token}x`), 'REGISTRATION_CLOSED')
  expect((await register(app, 'a@example.org', token)).status).toBe(200)
})

test('an expired or revoked invitation lets nobody in, and the journal says who made and revoked it, and not what its link contains', async () => {
  const app = await appForTest()
  await openByInvitation(app)
  const { id, token } = await inviteTo(app, { uses: 5, note: 'Клуб' })
  expect((await register(app, 'a@example.org', token)).status).toBe(200)
  expect(await revokeInvitation(app.db, { id, actor })).toBe(true)
  expect(await revokeInvitation(app.db, { id, actor })).toBe(false)
  expect(await isValid(app, token)).toBe(false)
  expectRefusal(await register(app, 'b@example.org', token), 'REGISTRATION_CLOSED')
  const acts = await readJournal(app.db, { sinceSeconds: 60 })
  expect(acts).toMatchObject([
    { actor, action: 'invite.revoke', details: { id, note: 'Клуб', uses: 5, usesLeft: 4 } },
    { actor, action: 'invite', details: { id, note: 'Клуб', uses: 5, days: 7 } },
    { action: 'registrations.invite-only' },
  ])
  expect(JSON.stringify(acts)).not.toContain(token)

  const late = await inviteTo(app)
  await app.db
    .updateTable('invitations')
    .set({ expires_at: new Date(0) })
    .execute()
  expectRefusal(await register(app, 'b@example.org', late.token), 'REGISTRATION_CLOSED')
  expect(await selectInvitations(app.db)).toEqual([])
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

  await showNotice(app.db, { text: 'В два', actor })
  await clearNotice(app.db, { actor })
  expect(await createSiteStateReader(app.db)()).toEqual(OPEN_SITE)
  const acts = await readJournal(app.db, { sinceSeconds: 60 })
  expect(acts.map(({ action, details }) => [action, details.text])).toEqual([
    ['notice.clear', undefined],
    ['notice.show', 'В два'],
    ['notice.show', 'В час перезапуск'],
    ['notice.show', 'В полночь <перезапуск>'],
  ])
})

test('a notice is one line of visible characters that is not too long, and another shows nothing', async () => {
  const app = await appForTest()
  const show = (text: string) => showNotice(app.db, { text, actor })
  for (const text of [' \u200b', 'а\u2028б', 'а\u0007б', 'а'.repeat(201)]) {
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
  expect(await ban('email', 'x')).toBeUndefined()
  // What Node takes for an address and PostgreSQL does not would break every registration.
  for (const value of ['1.2.3', '10.0.0.0/40', 'fe80::1%eth0/64', '::ffff:10.0.0.0/90']) {
    expect(await ban('network', value), value).toBeUndefined()
  }
  await ban('network', '::ffff:198.51.100.7')
  await ban('network', '::FFFF:c612:0/111')
  const banned: [string, string?][] = [
    ['a@spam.example'],
    ['a@mail.spam.example'],
    ['a@good.example', '203.0.113.77'],
    ['a@good.example', '[2001:db8:1::5]:443'],
    ['a@good.example', '198.51.100.7'],
    ['a@good.example', '::ffff:198.19.255.255'],
    ['someone@googlemail.com'],
  ]
  for (const [email, ip] of banned) {
    expect(await startFrom(email, ip), email).toBe('REGISTRATION_CLOSED')
  }
  expect(await startFrom('a@notspam.example')).toBe('ok')
  expect(await startFrom('a@good.example', '203.0.114.1')).toBe('ok')
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
