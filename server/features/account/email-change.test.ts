import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { areTransitionsDone, comeBack, leave } from '../../testing/calls/account-deletion-calls.ts'
import { newEmail } from '../../testing/calls/account-fixture.ts'
import {
  changeEmail,
  isSignedIn,
  startChange,
  storedEmail,
  undoChange,
  verifyChange,
} from '../../testing/calls/email-change-calls.ts'
import { startAt, verifyAt } from '../../testing/calls/sign-in-calls.ts'
import { lockWaits } from '../../testing/database/databases.ts'
import { passLimitTime, passTime } from '../../testing/database/passing-time.ts'
import type { TestUser } from '../../testing/http/client.ts'
import { expectRefusal, expectTooMany } from '../../testing/http/expect-refusal.ts'
import { mailAppForFile, strictApp } from '../../testing/test-app.ts'
import { removeExpiredAccountRows } from './account.repository.ts'

const MINUTE = 60
const HOUR = 3600
const DAY = 86_400

const publicUrl = 'http://vslukh.example'
const contactEmail = 'help@vslukh.example'
const { app, mailbox } = await mailAppForFile({ publicUrl, contactEmail })

test('an e-mail is changed with the code mailed to the new address; the old one gets a notice with the link that undoes it, and no longer signs in', async () => {
  const olga = await app.signUp()
  await mailbox.mailTo(olga.email)
  const email = newEmail()
  const { status, body } = await startChange(app, olga, email)
  expect([status, body]).toEqual([201, { id: expect.any(String) }])
  expect((await mailbox.mailTo(email)).subject).toContain('код для смены почты')
  expect(await mailbox.codeFor(email)).toBe(app.codeFor(body.id))
  expect(await storedEmail(app, olga)).toBe(olga.email)

  const verified = await verifyChange(app, olga, body.id)
  expect([verified.status, verified.body]).toEqual([200, { email }])
  const current = await app.call('GET', '/users/current', { token: olga.token })
  expect(current.body.email).toBe(email)
  const notice = await mailbox.mailTo(olga.email, 2)
  expect(notice.subject).toBe('Почта аккаунта изменена · Вслух')
  expect(notice.text).toContain(olga.username)
  expect(notice.text).not.toContain(email)
  const change = app.db.selectFrom('email_changes').select('id').where('user_id', '=', olga.id)
  const { id: changeId } = await change.executeTakeFirstOrThrow()
  const link = `${publicUrl}/email-undo#${changeId}.${app.undoSecretFor(changeId)}`
  expect(notice.text).toContain(`\n${link}\n`)
  expect(notice.text).toMatch(/Ссылка действует до \d.+ по Москве\./)
  expect(notice.text).toContain(`напишите нам: ${contactEmail}`)
  expect((await mailbox.mailTo(email)).text).not.toContain('email-undo')
  expectRefusal(await startAt(app, '/logins', { email: olga.email }), 'USER_NOT_FOUND')
  expect((await app.signIn(email)).id).toBe(olga.id)
})

test('a taken address, in any case, is EMAIL_ALREADY_EXISTS at the start', async () => {
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  for (const taken of [petr.email, petr.email.toUpperCase(), olga.email]) {
    expectRefusal(await startChange(app, olga, taken), 'EMAIL_ALREADY_EXISTS')
  }
})

test('a code is accepted only from the user who requested the change', async () => {
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  const { id } = (await startChange(app, olga, newEmail())).body
  const asOlgasClient = { ...petr, clientToken: olga.clientToken }
  expectRefusal(await verifyChange(app, asOlgasClient, id), 'OPERATION_EXPIRED')
  expect(await storedEmail(app, petr)).toBe(petr.email)
})

test('a changed e-mail keeps all sessions; the link restores exactly the old address and closes every session of the account', async () => {
  const olga = await app.signIn(`Olga.${randomUUID()}@example.org`)
  const thief = await app.signIn(olga.email, 'thief')
  const neighbour = await app.signUp()
  const stolen = newEmail()
  const link = await changeEmail(app, thief, stolen)
  const areSignedIn = () =>
    Promise.all([olga, thief, neighbour].map((user) => isSignedIn(app, user)))
  expect(await areSignedIn()).toEqual([true, true, true])
  expect(await undoChange(app, link)).toMatchObject({ status: 204, body: undefined })
  expect(await storedEmail(app, olga)).toBe(olga.email)
  expect(await areSignedIn()).toEqual([false, false, true])

  expectRefusal(await startAt(app, '/logins', { email: stolen }), 'USER_NOT_FOUND')
  expect((await app.signIn(olga.email)).id).toBe(olga.id)
})

test('an undo restores an account that was deleted after the change, also if its answer was lost', async () => {
  const reader = await app.signUp()
  const olga = await app.signIn(`olga.${randomUUID()}@example.org`)
  const thief = await app.signIn(olga.email, 'thief')
  const post = await app.publish(olga, 'О чём говорит стена')
  const readPost = async () =>
    (await app.call('GET', `/posts/${post.id}`, { token: reader.token })).status
  const link = await changeEmail(app, thief, newEmail())
  expect((await leave(app, thief)).status).toBe(200)
  expect(await readPost()).toBe(404)

  for (const _ of ['lost', 'received']) expect((await undoChange(app, link)).status).toBe(204)
  await expect.poll(() => areTransitionsDone(app)).toBe(true)
  await expect.poll(readPost).toBe(200)
  expect((await comeBack(app, olga.email)).status).toBe(200)
})

test('a link works once, and only when it is complete', async () => {
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  const email = newEmail()
  const olgas = await changeEmail(app, olga, email)
  const petrs = await changeEmail(app, petr, newEmail())
  const wrong = [
    { ...olgas, secret: petrs.secret },
    { ...olgas, secret: olgas.secret.slice(0, -1) },
    { ...olgas, secret: 'x' },
    { ...olgas, id: petrs.id },
    { ...olgas, id: 'unknown' },
  ]
  for (const link of wrong) expectRefusal(await undoChange(app, link), 'LINK_EXPIRED')
  expect(await storedEmail(app, olga)).toBe(email)
  expect((await undoChange(app, olgas)).status).toBe(204)
  await passTime(app.db, 3 * MINUTE, 'email_changes', 'expires_at', 'undone_at')
  expectRefusal(await undoChange(app, olgas), 'LINK_EXPIRED')
})

test('a link works for three days, and its change is removed after them', async () => {
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  const early = await changeEmail(app, olga, newEmail())
  await passTime(app.db, 3 * DAY - 60, 'email_changes', 'expires_at')
  await removeExpiredAccountRows(app.db)
  expect((await undoChange(app, early)).status).toBe(204)
  const email = newEmail()
  const late = await changeEmail(app, petr, email)
  await passTime(app.db, 3 * DAY, 'email_changes', 'expires_at')
  expectRefusal(await undoChange(app, late), 'LINK_EXPIRED')
  expect(await storedEmail(app, petr)).toBe(email)
  await removeExpiredAccountRows(app.db)
  expect(await app.sql`SELECT FROM email_changes WHERE user_id = ${petr.id}`).toEqual([])
})

test.each([true, false])(
  'the first link of a chain of changes undoes the whole chain and ends the later ones; a later one, used before: %s, restores its own old address',
  async (isLaterFirst) => {
    const olga = await app.signUp()
    const second = newEmail()
    const first = await changeEmail(app, olga, second)
    const later = await changeEmail(app, olga, newEmail())
    if (isLaterFirst) {
      expect((await undoChange(app, later)).status).toBe(204)
      expect(await storedEmail(app, olga)).toBe(second)
    }
    expect((await undoChange(app, first)).status).toBe(204)
    expectRefusal(await undoChange(app, later), 'LINK_EXPIRED')
    expect(await storedEmail(app, olga)).toBe(olga.email)
  },
)

/** Moves all undo links towards their end. */
const passLinkTime = (seconds: number) => passTime(app.db, seconds, 'email_changes', 'expires_at')

test('who was put out by an undo can undo all of it for three more days, with the link of the notice that says so', async () => {
  const olga = await app.signIn(`olga.${randomUUID()}@example.org`)
  const thief = await app.signIn(olga.email, 'thief')
  const first = await changeEmail(app, thief, newEmail())
  await mailbox.mailAbout(olga.email, /Почта аккаунта изменена/)
  await passLinkTime(2 * DAY)
  // Olga changes the address herself, so the thief's mailbox gets a link as well.
  const thiefs = await changeEmail(app, olga, newEmail())
  await passLinkTime(3 * DAY - 60)
  expect((await undoChange(app, thiefs)).status).toBe(204)

  const notice = await mailbox.mailAbout(olga.email, /Почта аккаунта изменена/, 2)
  expect(notice.text).toContain(`/email-undo#${first.id}.${first.secret}`)
  await passLinkTime(3 * DAY - 60)
  expect((await undoChange(app, first)).status).toBe(204)
  expect(await storedEmail(app, olga)).toBe(olga.email)
  expectRefusal(await undoChange(app, thiefs), 'LINK_EXPIRED')
})

test('a link ends no sooner than those of later changes', async () => {
  const olga = await app.signUp()
  const first = await changeEmail(app, olga, newEmail())
  await passLinkTime(3 * DAY - 60)
  await changeEmail(app, olga, newEmail())
  await passLinkTime(3 * DAY - 60)
  expect((await undoChange(app, first)).status).toBe(204)
  expect(await storedEmail(app, olga)).toBe(olga.email)
})

test('a link that has ended stays so when the address is changed again', async () => {
  const olga = await app.signUp()
  const first = await changeEmail(app, olga, newEmail())
  await passLinkTime(3 * DAY)
  const second = await changeEmail(app, olga, newEmail())
  expectRefusal(await undoChange(app, first), 'LINK_EXPIRED')
  expect((await undoChange(app, second)).status).toBe(204)
  expectRefusal(await undoChange(app, first), 'LINK_EXPIRED')
})

test('an undo to an address that another account has is refused with an explanation, and works once the address is free', async () => {
  const olga = await app.signUp()
  const link = await changeEmail(app, olga, newEmail())
  const newcomer = await app.signIn(olga.email)
  const refused = await undoChange(app, link)
  expectRefusal(refused, 'EMAIL_ALREADY_EXISTS')
  expect(refused.body.message).toContain('другой аккаунт')
  expect(await isSignedIn(app, olga)).toBe(true)
  await changeEmail(app, newcomer, newEmail())
  expect((await undoChange(app, link)).status).toBe(204)
  expect(await storedEmail(app, olga)).toBe(olga.email)
})

test('an undo ends a pending change of its account, and no other', async () => {
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  const others = (await startChange(app, petr, newEmail())).body.id
  const link = await changeEmail(app, olga, newEmail())
  const pending = (await startChange(app, olga, newEmail())).body.id
  await undoChange(app, link)
  const again = await app.signIn(olga.email, olga.clientToken)
  expectRefusal(await verifyChange(app, again, pending), 'OPERATION_EXPIRED')
  expect(await storedEmail(app, olga)).toBe(olga.email)
  expect((await verifyChange(app, petr, others)).status).toBe(200)
})

test.each(['/logins', '/registrations'] as const)(
  'a sign-in by %s that waits for an undo opens no session with the undone address',
  async (path) => {
    const olga = await app.signUp()
    const stolen = newEmail()
    await changeEmail(app, olga, stolen)
    const { id } = (await startAt(app, path, { email: stolen })).body
    const undo = await app.db.startTransaction().execute()
    await undo.selectFrom('users').select('id').where('id', '=', olga.id).forUpdate().execute()
    const signIn = verifyAt(app, path, { id })
    await expect.poll(() => lockWaits(app)).toBeGreaterThan(0)
    const email = { email: olga.email, email_key: olga.email }
    await undo.updateTable('users').set(email).where('id', '=', olga.id).execute()
    await undo.deleteFrom('sessions').where('user_id', '=', olga.id).execute()
    await undo.commit().execute()
    // The registration proves an address that no account has by now, so it creates a new account.
    expect((await signIn).status).toBe(path === '/logins' ? 400 : 200)
    expect(await app.sql`SELECT FROM sessions WHERE user_id = ${olga.id}`).toEqual([])
  },
)

test('a user may request 5 e-mail changes and then one in 12 minutes, past 15 one in 96 minutes; others get 429 with Retry-After', async () => {
  const app = await strictApp()
  let number = 0
  const change = (user: TestUser) => startChange(app, user, newEmail(), `10.1.0.${number++}`)
  const olga = await app.signUp()
  const petr = await app.signUp()
  for (let hour = 0; hour < 3; hour++) {
    for (let time = 0; time < 5; time++) expect((await change(olga)).status).toBe(201)
    if (hour === 0) {
      expectTooMany(await change(olga), { least: 11 * MINUTE, most: 12 * MINUTE })
      expect((await change(petr)).status).toBe(201)
    }
    await passLimitTime(app, HOUR)
  }
  expect((await change(olga)).status).toBe(201)
  expectTooMany(await change(olga), { least: 11 * MINUTE, most: 12 * MINUTE })
  await passLimitTime(app, 12 * MINUTE)
  expect((await change(olga)).status).toBe(201)
  expectTooMany(await change(olga), { least: 95 * MINUTE, most: 96 * MINUTE })
})
