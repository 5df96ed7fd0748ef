import { setTimeout } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { STALE_HEADER } from '../../../contract/constants.ts'
import { OPEN_SITE } from '../../../contract/pages.ts'
import { openDatabase } from '../../kernel/db/database.ts'
import { readJournal } from '../../kernel/journal/journal.ts'
import { countCodes, startAt, verifyAt } from '../../testing/calls/sign-in-calls.ts'
import { closeAfterTest } from '../../testing/close-after-test.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { appForFile, appForTest } from '../../testing/test-app.ts'
import { ShutNetworks } from './shut-networks.ts'
import { selectBans, selectInvitations } from './site-state.repository.ts'
import {
  addBan,
  clearNotice,
  closeSite,
  continueWall,
  createSiteStateReader,
  endWall,
  invite,
  openSite,
  removeBan,
  revokeInvitation,
  showNotice,
} from './site-state.service.ts'

const actor = 'olga'
const origin = 'https://wall.example'

const contactEmail = 'wall@example.org'
const ASK = `Вопросы: ${contactEmail}`
const app = await appForFile({ config: { trustProxy: ['127.0.0.1/32'], contactEmail } })
const { db } = app
const olga = await app.signUp()
afterEach(() => openSite(db, { part: 'registrations', actor }))

const readState = () => createSiteStateReader(db)()
/** Returns the newest rows of the journal. */
const lastActs = async (count: number) => (await readJournal(db, {})).slice(0, count)

const start = (email: string, invitation?: string) =>
  startAt(app, '/registrations', { email, invitation })
const verify = (id: string, invitation?: string) =>
  verifyAt(app, '/registrations', { id, invitation })

async function register(email: string, invitation?: string) {
  const started = await start(email, invitation)
  return started.status >= 400 ? started : verify(started.body.id, invitation)
}

const closeRegistrations = () =>
  closeSite(db, { part: 'registrations', reason: 'Разбираем спам', actor })
const openByInvitation = () => openSite(db, { part: 'registrations', isInviteOnly: true, actor })

/** Makes an invitation for one person, unless told otherwise. Returns the token in its link too. */
async function inviteTo(more: { uses?: number; note?: string } = {}) {
  const made = await invite(db, { days: 7, uses: 1, note: null, origin, actor, ...more })
  return { ...made, token: made.link.split('#')[1] ?? '' }
}

async function isValid(invitation: string): Promise<boolean> {
  const { body } = await app.call('POST', '/invitations/validation', { body: { invitation } })
  return body.isValid
}

test.each([
  ['closed registrations', false, 'Регистрация закрыта: Разбираем спам'],
  ['registrations by invitation', true, 'Регистрация по приглашениям'],
])(
  '%s refuse newcomers with that reason and whom to ask, and nobody who has an account or an invitation',
  async (_what, isInviteOnly, message) => {
    const email = `new-${isInviteOnly}@example.org`
    await (isInviteOnly ? openByInvitation() : closeRegistrations())
    const reason = isInviteOnly ? null : 'Разбираем спам'
    const closed = { ...OPEN_SITE, isInviteOnly, registrationsClosed: reason }
    expect(await readState()).toEqual(closed)
    const action = `registrations.${isInviteOnly ? 'invite-only' : 'close'}`
    expect(await lastActs(1)).toMatchObject([{ actor, action, reason }])
    const refused = await register(email)
    expectRefusal(refused, 'REGISTRATION_CLOSED')
    expect(refused.body.message).toBe(`${message}. ${ASK}`)
    const { token } = await inviteTo()
    expectRefusal(await register(email, `${token}x`), 'REGISTRATION_CLOSED')
    expect((await register(`invited-${email}`, token)).status).toBe(200)
    const { id } = (await startAt(app, '/logins', { email: olga.email })).body
    expect((await verifyAt(app, '/logins', { id })).status).toBe(200)

    await openSite(db, { part: 'registrations', actor })
    expect(await readState()).toEqual(OPEN_SITE)
    expect(await lastActs(1)).toMatchObject([{ actor, action: 'registrations.open', reason: null }])
    expect((await register(email)).status).toBe(200)
  },
)

test('an invitation lets in as many people as it is for, however they race, and one of them later with another', async () => {
  const { id, token, until, link } = await inviteTo({ uses: 3, note: 'Клуб' })
  expect(link).toBe(`${origin}/invitation#${token}`)
  // Nobody needs it yet, so it is not used.
  expect((await register('a@example.org', token)).status).toBe(200)
  expect(await isValid('made up')).toBe(true)
  await openByInvitation()
  expect(await isValid('made up')).toBe(false)
  expect(await isValid(token)).toBe(true)

  const emails = Array.from({ length: 8 }, (_, index) => `r${index}@example.org`)
  const starts = await Promise.all(emails.map((email) => start(email, token)))
  const answers = await Promise.all(starts.map(({ body }) => verify(body.id, token)))
  expect(countCodes(answers)).toEqual({ ok: 3, REGISTRATION_CLOSED: 5 })
  expect(await isValid(token)).toBe(false)
  const shown = { id, note: 'Клуб', uses: 3, usesLeft: 0, until }
  expect(await selectInvitations(db)).toContainEqual(shown)
  const late = answers.findIndex(({ status }) => status === 403)
  expect(answers[late]?.body.message).toBe('Приглашение больше не действует. Попросите новое')

  // The person has lost nothing: the same code works with another invitation.
  const other = await inviteTo()
  expect((await verify(starts[late]?.body.id, other.token)).status).toBe(200)
  // Who has an account uses nothing up.
  const { token: third } = await inviteTo()
  expect((await register('a@example.org', third)).status).toBe(200)
  expect(await isValid(third)).toBe(true)
})

test('an expired or revoked invitation lets nobody in, and the journal says who made and revoked it, and not what its link contains', async () => {
  await openByInvitation()
  const { id, token } = await inviteTo({ uses: 5, note: 'Клуб' })
  expect((await register('c@example.org', token)).status).toBe(200)
  expect(await revokeInvitation(db, { id, actor })).toBe(true)
  expect(await revokeInvitation(db, { id, actor })).toBe(false)
  expect(await isValid(token)).toBe(false)
  expectRefusal(await register('d@example.org', token), 'REGISTRATION_CLOSED')
  const acts = await lastActs(2)
  expect(acts).toMatchObject([
    { actor, action: 'invite.revoke', details: { id, note: 'Клуб', uses: 5, usesLeft: 4 } },
    { actor, action: 'invite', details: { id, note: 'Клуб', uses: 5, days: 7 } },
  ])
  expect(JSON.stringify(acts)).not.toContain(token)

  const late = await inviteTo()
  await app.sql`UPDATE invitations SET expires_at = now()`
  expectRefusal(await register('d@example.org', late.token), 'REGISTRATION_CLOSED')
  expect(await selectInvitations(db)).toEqual([])
})

test('closed writing refuses posts, replies and likes at once on a running server, and not deletions', async () => {
  const [post, other] = [await app.publish(olga), await app.publish(olga)]
  const { token } = olga
  await closeSite(db, { part: 'writing', reason: 'Переезжаем!', actor })
  const write = { token, body: { text: 'Можно?' } }
  const refused = await app.call('POST', '/posts', write)
  expectRefusal(refused, 'WRITING_CLOSED')
  expect(refused.body.message).toBe(`Писать пока нельзя: Переезжаем! ${ASK}`)
  expectRefusal(await app.call('POST', `/posts/${post.id}/replies`, write), 'WRITING_CLOSED')
  expectRefusal(await app.call('POST', `/posts/${post.id}/likes`, { token }), 'WRITING_CLOSED')
  expect((await app.call('DELETE', `/posts/${other.id}`, { token })).status).toBe(204)
  expect((await app.call('GET', '/posts', { token })).status).toBe(200)
  expect(await readState()).toEqual({ ...OPEN_SITE, writingClosed: 'Переезжаем!' })
  await openSite(db, { part: 'writing', actor })
  expect((await app.call('POST', '/posts', write)).status).toBe(201)
})

test('a wall that ends says so 30 days before, and from its day refuses newcomers and writing, not reading, signing in and the download', async () => {
  const end = async (interval: string) => {
    await endWall(db, { on: new Date('2027-01-30T21:00Z'), actor })
    await app.sql`UPDATE site_state SET ends_at = now() + ${interval}::interval`
  }
  const { token } = olga
  const write = { token, body: { text: 'Можно?' } }
  await end('30 days 1 minute')
  expect(await readState()).toEqual(OPEN_SITE)
  expect(await lastActs(1)).toMatchObject([{ actor, action: 'wall.end' }])
  await end('30 days')
  expect(await readState()).toEqual({
    ...OPEN_SITE,
    endsOn: expect.stringMatching(/^\d+\s[а-я]+\s/),
  })
  expect((await app.call('POST', '/posts', write)).status).toBe(201)

  await end('0')
  const ended = 'стена закрылась 31\u00a0января\u00a02027, её можно только читать'
  const closed = { ...OPEN_SITE, registrationsClosed: ended, writingClosed: ended }
  expect(await readState()).toEqual(closed)
  const refused = await app.call('POST', '/posts', write)
  expectRefusal(refused, 'WRITING_CLOSED')
  expect(refused.body.message).toBe(`Писать пока нельзя: ${ended}. ${ASK}`)
  expectRefusal(await register('late@example.org'), 'REGISTRATION_CLOSED')
  const { id } = (await startAt(app, '/logins', { email: olga.email })).body
  expect((await verifyAt(app, '/logins', { id })).status).toBe(200)
  expect((await app.call('GET', '/posts', { token })).status).toBe(200)

  expect(await continueWall(db, { actor })).toBe(true)
  expect(await continueWall(db, { actor })).toBe(false)
  expect(await readState()).toEqual(OPEN_SITE)
  expect((await app.call('POST', '/posts', write)).status).toBe(201)
})

test('a notice stands on every page of every node within a second, until its end or until it is taken back', async () => {
  const second = await appForTest({ databaseUrl: app.databaseUrl })
  const urls = [`${app.url}/`, `${second.url}/`, `${second.url}/settings`]
  const pages = () => Promise.all(urls.map(async (url) => (await fetch(url)).text()))
  const expectOnPages = (text: string, isShown: boolean) =>
    expect
      .poll(async () => (await pages()).map((html) => html.includes(text)), { timeout: 5000 })
      .toEqual([isShown, isShown, isShown])

  const first = await showNotice(db, { text: ' В полночь <перезапуск> ', actor })
  expect(first).toEqual({ text: 'В полночь <перезапуск>', until: null })
  const before = await readState()
  expect(before).toMatchObject({ ...OPEN_SITE, notice: { text: 'В полночь <перезапуск>' } })
  await expectOnPages('В полночь', true)

  const shown = await showNotice(db, { text: 'В час перезапуск', seconds: 7200, actor })
  expect(shown?.until?.getTime()).toBeGreaterThan(Date.now() + 7_000_000)
  const { notice } = await readState()
  expect(notice).toMatchObject({ text: 'В час перезапуск' })
  expect(notice?.id).not.toBe(before.notice?.id)
  await expectOnPages('В час перезапуск', true)
  await app.sql`UPDATE site_state SET notice_until = now()`
  await expectOnPages('В час перезапуск', false)

  await showNotice(db, { text: 'В два', actor })
  await clearNotice(db, { actor })
  for (const text of [' \u200b', 'а\u2028б', 'а\u0007б', 'а'.repeat(201)]) {
    expect(await showNotice(db, { text, actor }), JSON.stringify(text)).toBeUndefined()
  }
  expect(await readState()).toEqual(OPEN_SITE)
  const longest = { text: '😀'.repeat(200), actor }
  expect(await showNotice(db, longest)).toMatchObject({ until: null })
  await clearNotice(db, { actor })
})

test('no page that is requested more than a second after a notice or a closing is without it, though pages are cached', async () => {
  const { id } = await app.publish(olga)
  const urls = ['/', `/posts/${id}`, `/users/${olga.username}`, '/rules', '/settings']
  const late: string[] = []
  for (let n = 0; n < 6; n++) {
    const text = `Закрыто № ${n}`
    // Begins at another moment of the second for which a page is cached.
    let changedAt = Number.POSITIVE_INFINITY
    const readUntilEnd = async (url: string) => {
      for (;;) {
        const began = performance.now()
        const response = await fetch(app.url + url)
        const html = await response.text()
        // A busy machine may refuse, or answer with an older page, which says that it is stale.
        if (!response.ok || response.headers.has(STALE_HEADER)) continue
        if (began > changedAt + 1000 && !html.includes(text)) late.push(`${url} ${n}`)
        if (began > changedAt + 1100) return
      }
    }
    const reading = Promise.all(urls.map(readUntilEnd))
    await setTimeout(150 * n)
    await showNotice(db, { text, actor })
    changedAt = performance.now()
    await reading
  }
  await clearNotice(db, { actor })
  expect(late).toEqual([])
})

test('a banned domain, network or e-mail cannot register until the ban ends or is removed', async () => {
  const ban = (kind: 'domain' | 'network' | 'email', value: string, days: number | null = null) =>
    addBan(db, {
      ...{ kind, value, reason: null, actor, coversAll: false },
      seconds: days && days * 86_400,
    }).then((added) => added?.id)
  const startFrom = async (email: string, ip = '192.0.2.1') =>
    (await startAt(app, '/registrations', { email, ip })).body.code ?? 'ok'

  const domain = (await ban('domain', 'Spam.Example')) ?? ''
  await ban('domain', '@ПРИМЕР.рф.')
  await ban('network', '203.0.113.0/24', 7)
  await ban('network', '2001:db8::/32')
  await ban('email', 'Some.One+tag@gmail.com')
  expect(await ban('email', 'x')).toBeUndefined()
  // What Node takes for an address and PostgreSQL does not would break every registration.
  const wrong = ['1.2.3', '10.0.0.0/40', 'fe80::1%eth0/64', '::ffff:10.0.0.0/90', '2001:db8::/129']
  for (const value of [...wrong, '64:ff9b::/64', '2002:c633:6407::/8']) {
    expect(await ban('network', value), value).toBeUndefined()
  }
  await ban('network', '::ffff:198.51.100.7')
  await ban('network', '::FFFF:c612:0/111')
  await ban('network', '2002:c633:6500::/40')
  await ban('network', '2002:c633:6601:2::/64')
  const banned: [string, string?][] = [
    ['a@spam.example'],
    ['a@mail.spam.example'],
    ['a@xn--e1afmkfd.xn--p1ai'],
    ['a@почта.пример.рф'],
    ['a@good.example', '203.0.113.77'],
    ['a@good.example', '[2001:db8:1::5]:443'],
    ['a@good.example', '198.51.100.7'],
    ['a@good.example', '::ffff:198.19.255.255'],
    ['a@good.example', '64:ff9b::198.51.100.7'],
    ['a@good.example', '2002:c633:6407:1::5'],
    ['a@good.example', '198.51.101.200'],
    ['a@good.example', '198.51.102.1'],
    ['someone@googlemail.com'],
  ]
  for (const [email, ip] of banned) {
    expect(await startFrom(email, ip), email).toBe('REGISTRATION_CLOSED')
  }
  const refused = await startAt(app, '/registrations', { email: 'a@spam.example' })
  expect(refused.body.message).toContain(ASK)
  expect(await startFrom('a@notspam.example')).toBe('ok')
  expect(await startFrom('a@good.example', '203.0.114.1')).toBe('ok')
  expect((await selectBans(db)).map(({ value }) => value)).toEqual([
    ...['spam.example', 'xn--e1afmkfd.xn--p1ai'],
    ...['203.0.113.0/24', '2001:db8::/32', 'someone@gmail.com'],
    ...['198.51.100.7', '198.18.0.0/15', '198.51.101.0/24', '198.51.102.1'],
  ])
  expect(await removeBan(db, { id: domain, actor })).toBe(true)
  expect(await removeBan(db, { id: domain, actor })).toBe(false)
  expect(await startFrom('a@spam.example')).toBe('ok')
  await app.sql`UPDATE bans SET until = now() WHERE kind = 'network'`
  expect(await startFrom('b@good.example', '203.0.113.77')).toBe('ok')
})

test('while no connection is free, one read of the bans waits for all changes, and finds the newest ban', async () => {
  const { db: only, pool } = closeAfterTest(
    openDatabase(app.databaseUrl, () => {}, { connections: 1, connectionWaitMs: 10_000 }),
  )
  const shut = new ShutNetworks(only, () => {})
  await only.transaction().execute(async (tx) => {
    for (let n = 0; n < 100; n++) shut.readAfter({ kind: 'edited' })
    await expect.poll(() => pool.waitingCount).toBe(1)
    const network = { kind: 'network', value: '203.0.113.9', seconds: null } as const
    await addBan(tx, { ...network, coversAll: true, reason: null, actor })
  })
  await expect.poll(() => shut.shutUntil('203.0.113.9')).toBe(Number.POSITIVE_INFINITY)
})
