import { expect, test } from 'vitest'
import { comeBack, leave } from '../../testing/calls/account-deletion-calls.ts'
import { newEmail } from '../../testing/calls/account-fixture.ts'
import {
  changeEmail,
  isSignedIn,
  startChange,
  storedEmail,
  undoChange,
  verifyChange,
} from '../../testing/calls/email-change-calls.ts'
import {
  countCodes,
  ONE_BROWSER,
  readMailState,
  startAt,
  verifyAt,
  wrongCode,
} from '../../testing/calls/sign-in-calls.ts'
import { passTime } from '../../testing/database/passing-time.ts'
import { atOnce } from '../../testing/http/at-once.ts'
import { browserOf, type TestAnswer } from '../../testing/http/client.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { appForTest, mailAppForFile, strictApp, type TestApp } from '../../testing/test-app.ts'
import { refresh } from '../sessions/sessions.fixture.ts'
import { invite, openSite } from '../site-state/site-state.service.ts'
import { removeOldRedeemedCodes } from './redeemed-codes.repository.ts'

const { app, mailbox } = await mailAppForFile()

const pass = (seconds: number) => passTime(app.db, seconds, 'redeemed_codes', 'redeemed_at')

/** Registers, and starts a login or another registration. Returns how to send its code. */
async function startOne(path: '/logins' | '/registrations' = '/logins', at: TestApp = app) {
  const { email } = await at.signUp()
  const { id } = (await startAt(at, path, { email })).body
  const right = at.codeFor(id)
  const send = (code = right) => verifyAt(at, path, { id, code })
  return { email, id, send, wrong: wrongCode(right) }
}

async function sessionsOf({ body }: TestAnswer) {
  const { token } = body.accessToken
  return (await app.call('GET', '/sessions', { token })).body.sessions
}

test.each(['/logins', '/registrations'] as const)(
  'the right code of %s, sent again because the answer was lost, sets the same cookies, and opens no second session',
  async (path) => {
    const { email, send } = await startOne(path)
    const first = await send()
    expect(first.status).toBe(200)
    await pass(100)
    const again = await send()
    expect(again.status).toBe(200)
    expect(again.cookie).toBe(first.cookie)
    expect(browserOf(again)).toBe(browserOf(first))
    // That of the sign-up, and one of this browser.
    expect(await sessionsOf(again)).toHaveLength(2)
    const client = { clientToken: ONE_BROWSER, cookie: again.cookie ?? '' }
    expect((await refresh(app, client)).status).toBe(200)
    const notices = () =>
      mailbox.mails.filter(({ to, subject }) => to === email && /^Вход с нового/.test(subject))
    await expect.poll(() => notices().length).toBe(1)
  },
)

test('a registration whose answer was lost creates one account, and takes one use of its invitation', async () => {
  const app = await appForTest()
  const [actor, origin] = ['tester', app.url]
  await openSite(app.db, { part: 'registrations', isInviteOnly: true, actor })
  const { link } = await invite(app.db, { days: 7, uses: 2, note: null, origin, actor })
  const [, invitation] = link.split('#')
  const email = newEmail()
  const { id } = (await startAt(app, '/registrations', { email, invitation })).body
  const send = () => verifyAt(app, '/registrations', { id, invitation })
  const [first, again] = [await send(), await send()]
  expect([first.status, again.status]).toEqual([200, 200])
  expect(again.cookie).toBe(first.cookie)
  expect(await app.sql`SELECT FROM sessions`).toHaveLength(1)
  expect(await app.sql`SELECT uses_left FROM invitations`).toEqual([{ uses_left: 1 }])
})

test('a right code is OPERATION_EXPIRED two minutes after its first answer, and nothing of it is stored then', async () => {
  const { id, send } = await startOne()
  await send()
  expect((await readMailState(app, id)).body.state).toBe('sent')
  await pass(121)
  const refused = await send()
  expectRefusal(refused, 'OPERATION_EXPIRED')
  expect(refused.cookie).toBeUndefined()
  expectRefusal(await readMailState(app, id), 'OPERATION_EXPIRED')
  await removeOldRedeemedCodes(app.db)
  expect(await app.sql`SELECT FROM redeemed_codes WHERE id = ${id}`).toEqual([])
})

test('a code that was redeemed while the clock was an hour ahead is not repeated for an hour', async () => {
  const { send } = await startOne()
  await send()
  await pass(-3600)
  expectRefusal(await send(), 'OPERATION_EXPIRED')
})

test('another browser, purpose or user gets no answer again', async () => {
  const { id, send } = await startOne()
  await send()
  const { token } = await app.signUp()
  const body = { confirmCode: app.codeFor(id), clientToken: ONE_BROWSER }
  for (const refused of [
    await verifyAt(app, '/logins', { id, clientToken: 'another browser' }),
    await verifyAt(app, '/registrations', { id }),
    await app.call('PUT', `/users/current/email/${id}/verify`, { token, body }),
  ]) {
    expectRefusal(refused, 'OPERATION_EXPIRED')
    expect(refused.cookie).toBeUndefined()
  }
})

test('a wrong code after the right one is still wrong, and after five wrong ones the right one is refused too; another code needs no wait', async () => {
  const app = await strictApp()
  const { email, send, wrong } = await startOne('/logins', app)
  await send(wrong)
  expect((await send()).status).toBe(200)
  for (const left of ['Осталось 3 попытки', 'Осталось 2 попытки', 'Осталась 1 попытка']) {
    const refused = await send(wrong)
    expectRefusal(refused, 'INVALID_CONFIRM_CODE')
    expect(refused.body.message).toBe(`Неверный код. ${left}`)
    expect((await send()).status).toBe(200)
  }
  for (const code of [wrong, wrong, undefined]) {
    const refused = await send(code)
    expectRefusal(refused, 'OPERATION_EXPIRED')
    expect(refused.cookie).toBeUndefined()
  }
  const { status, body } = await startAt(app, '/logins', { email })
  expect(status).toBe(201)
  expect((await verifyAt(app, '/logins', { id: body.id })).status).toBe(200)
})

test('repetitions count as no wrong codes, and give back no limits', async () => {
  const app = await strictApp()
  const { send } = await startOne('/logins', app)
  await send()
  const limits = () => app.sql`SELECT key, arrival FROM rate_limits
    WHERE key LIKE 'code-%' AND key NOT LIKE 'code-check/%' OR key LIKE '%wrong%' ORDER BY key`
  const before = await limits()
  for (let time = 0; time < 10; time++) expect((await send()).status).toBe(200)
  expect(await limits()).toEqual(before)
})

test('a session that was closed after its code is not opened again', async () => {
  const { email, send } = await startOne()
  const [opened] = await sessionsOf(await send())
  const { token } = await app.signIn(email)
  expect((await app.call('DELETE', `/sessions/${opened.id}`, { token })).status).toBe(204)
  expectRefusal(await send(), 'OPERATION_EXPIRED')
  const other = await startOne()
  const { accessToken } = (await other.send()).body
  await app.call('DELETE', '/sessions/current', { token: accessToken.token })
  expectRefusal(await other.send(), 'OPERATION_EXPIRED')
})

test('a session that was rotated since is not set back', async () => {
  const { send } = await startOne()
  const { cookie = '' } = await send()
  await passTime(app.db, 601, 'sessions', 'rotated_at')
  const rotated = await refresh(app, { clientToken: ONE_BROWSER, cookie })
  expectRefusal(await send(), 'OPERATION_EXPIRED')
  const client = { clientToken: ONE_BROWSER, cookie: rotated.cookie ?? '' }
  expect((await refresh(app, client)).status).toBe(200)
})

test('a new sign-in of the same browser has an operation and a session of its own', async () => {
  const { email, id, send } = await startOne()
  const first = await send()
  const next = (await startAt(app, '/logins', { email })).body.id
  expect(next).not.toBe(id)
  const second = await verifyAt(app, '/logins', { id: next })
  expect(second.cookie).not.toBe(first.cookie)
  expect(await sessionsOf(second)).toHaveLength(3)
})

test('the code of an e-mail change, sent again, answers with the changed address; the undo link works as before', async () => {
  const olga = await app.signUp()
  const [email, other] = [newEmail(), newEmail()]
  const { id } = (await startChange(app, olga, email)).body
  for (let time = 0; time < 2; time++) {
    expect(await verifyChange(app, olga, id)).toMatchObject({ status: 200, body: { email } })
  }
  const undo = await app.sql`SELECT FROM email_changes WHERE user_id = ${olga.id}`
  expect(undo).toHaveLength(1)
  await changeEmail(app, olga, other)
  expectRefusal(await verifyChange(app, olga, id), 'OPERATION_EXPIRED')
  expect(await storedEmail(app, olga)).toBe(other)
})

test('50 right codes of an e-mail change, sent at once, change it once', async () => {
  const olga = await app.signUp()
  const email = newEmail()
  const { id } = (await startChange(app, olga, email)).body
  const answers = await atOnce(Array.from({ length: 50 }, () => () => verifyChange(app, olga, id)))
  expect(countCodes(answers)).toEqual({ ok: 50 })
  expect(await app.sql`SELECT FROM email_changes WHERE user_id = ${olga.id}`).toHaveLength(1)
})

test('the code of a deletion, sent again or ten times at once, answers with its day, although the deletion has closed the session', async () => {
  const olga = await app.signUp()
  const { token, clientToken } = olga
  const { id } = (
    await app.call('POST', '/users/current/deletion', { token, body: { clientToken } })
  ).body
  const path = `/users/current/deletion/${id}/verify`
  const send = (confirmCode = app.codeFor(id)) =>
    app.call('POST', path, { token, body: { confirmCode, clientToken } })
  const answers = await atOnce(Array.from({ length: 10 }, () => () => send()))
  expect(countCodes(answers)).toEqual({ ok: 10 })
  expect(new Set(answers.map(({ body }) => body.erasedAt)).size).toBe(1)
  expect(await send()).toMatchObject({ status: 200, body: answers[0]?.body })
  expect(await isSignedIn(app, olga)).toBe(false)
  const notices = () =>
    mailbox.mails.filter(({ to, subject }) => to === olga.email && /удалён/.test(subject))
  await expect.poll(() => notices().length).toBe(1)
  expectRefusal(await send(wrongCode(app.codeFor(id))), 'UNAUTHORIZED')

  expect((await comeBack(app, olga.email, true)).status).toBe(200)
  expectRefusal(await send(), 'UNAUTHORIZED')
})

test('a closed session deletes nothing, and uses up no attempt', async () => {
  const { email } = await app.signUp()
  const [laptop, phone] = [await app.signIn(email), await app.signIn(email)]
  const { token, clientToken } = phone
  const { id } = (
    await app.call('POST', '/users/current/deletion', { token, body: { clientToken } })
  ).body
  await app.call('DELETE', '/sessions', { token: laptop.token })
  for (const confirmCode of [wrongCode(app.codeFor(id)), app.codeFor(id)]) {
    const body = { confirmCode, clientToken }
    const path = `/users/current/deletion/${id}/verify`
    expectRefusal(await app.call('POST', path, { token, body }), 'UNAUTHORIZED')
  }
  expect(await app.sql`SELECT attempts FROM codes WHERE id = ${id}`).toEqual([{ attempts: 0 }])
  expect(await isSignedIn(app, laptop)).toBe(true)
})

test('a person who returned to the account, and lost the answer, returns once', async () => {
  const olga = await app.signUp()
  expect((await leave(app, olga)).status).toBe(200)
  const { id } = (await startAt(app, '/logins', { email: olga.email })).body
  const send = (restore?: true) => verifyAt(app, '/logins', { id, restore })
  expectRefusal(await send(), 'ACCOUNT_DELETED')
  const [first, again] = [await send(true), await send(true)]
  expect([first.status, again.status]).toEqual([200, 200])
  expect(again.cookie).toBe(first.cookie)
  expect(await sessionsOf(again)).toHaveLength(1)

  const { token } = first.body.accessToken
  expect((await leave(app, { ...olga, token, clientToken: ONE_BROWSER })).status).toBe(200)
  expectRefusal(await send(true), 'OPERATION_EXPIRED')
})

test('an undo whose answer was lost can be repeated for two minutes, while the old address still stands', async () => {
  const olga = await app.signUp()
  const link = await changeEmail(app, olga, newEmail())
  expect((await undoChange(app, link)).status).toBe(204)
  const back = await app.signIn(olga.email)
  expect((await undoChange(app, link)).status).toBe(204)
  expect(await isSignedIn(app, back)).toBe(true)
  const email = newEmail()
  await changeEmail(app, back, email)
  expectRefusal(await undoChange(app, link), 'LINK_EXPIRED')
  expect(await storedEmail(app, olga)).toBe(email)

  const petr = await app.signUp()
  const petrs = await changeEmail(app, petr, newEmail())
  await undoChange(app, petrs)
  await passTime(app.db, 121, 'email_changes', 'undone_at', 'expires_at')
  expectRefusal(await undoChange(app, petrs), 'LINK_EXPIRED')
})
