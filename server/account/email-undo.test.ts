import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newEmail } from '../testing/account-fixture.ts'
import { atOnce } from '../testing/at-once.ts'
import type { TestUser } from '../testing/client.ts'
import { lockWaits } from '../testing/databases.ts'
import { expectRefusal, expectTooMany } from '../testing/expect-refusal.ts'
import { type Mailbox, openMailbox } from '../testing/mailbox.ts'
import { passEmailChangeTime } from '../testing/passing-time.ts'
import { countCodes, from, startAt, verifyAt } from '../testing/sign-in-calls.ts'
import { appForTest, startTestApp, type TestApp, testPerNode } from '../testing/test-app.ts'
import { removeExpiredAccountRows } from './account.repository.ts'

const DAY = 86_400
const ORIGIN = 'https://vslukh.example'
const CONTACT = 'help@vslukh.example'

type Link = { id: string; secret: string }

let mailbox: Mailbox
let app: TestApp
beforeAll(async () => {
  mailbox = await openMailbox()
  app = await startTestApp({
    config: { smtpUrl: mailbox.url, publicUrl: ORIGIN, contactEmail: CONTACT },
  })
})
afterAll(async () => {
  await app.close()
  await mailbox.close()
})

async function start({ token, clientToken }: TestUser, email: string): Promise<string> {
  const body = { email, clientToken }
  return (await app.call('PUT', '/users/current/email', { token, body })).body.id
}

function verify({ token, clientToken }: TestUser, id: string) {
  const body = { confirmCode: app.codeFor(id), clientToken }
  return app.call('PUT', `/users/current/email/${id}/verify`, { token, body })
}

/** Changes a user's e-mail. Returns the link in the notice to the old address. */
async function move(user: TestUser, email: string, old = user.email): Promise<Link> {
  expect((await verify(user, await start(user, email))).status).toBe(200)
  return noticeTo(old)
}

async function noticeTo(address: string): Promise<Link> {
  for (let count = 1; ; count++) {
    const { text } = await mailbox.mailTo(address, count)
    const [, id, secret] = /\/email-undo#([0-9a-f]{32})\.([0-9a-f]{64})$/m.exec(text) ?? []
    if (id && secret) return { id, secret }
  }
}

function undo({ id, secret }: Link, headers: Record<string, string> = {}) {
  return app.call('POST', `/email-changes/${id}/undo`, { body: { secret }, headers })
}

async function emailOf({ id }: TestUser): Promise<string> {
  const row = app.db.selectFrom('users').select('email').where('id', '=', id)
  return (await row.executeTakeFirstOrThrow()).email
}

async function isSignedIn({ token }: TestUser): Promise<boolean> {
  return (await app.call('GET', '/users/current', { token })).status === 200
}

test('the notice to the old address contains a link to the site, and the mail to the new one does not', async () => {
  const olga = await app.signUp()
  const email = newEmail()
  const { id, secret } = await move(olga, email)
  const { text } = await mailbox.mailTo(olga.email, 2)
  expect(text).toContain(`\n${ORIGIN}/email-undo#${id}.${secret}\n`)
  expect(text).toContain(`напишите нам: ${CONTACT}`)
  expect((await mailbox.mailTo(email)).text).not.toContain('email-undo')
})

test('without PUBLIC_URL the link leads to the address that the server prints', async () => {
  const local = await appForTest({ config: { smtpUrl: mailbox.url, port: 3000 } })
  const { token, clientToken, email } = await local.signUp()
  const body = { email: newEmail(), clientToken }
  const { id } = (await local.call('PUT', '/users/current/email', { token, body })).body
  await local.call('PUT', `/users/current/email/${id}/verify`, {
    token,
    body: { confirmCode: local.codeFor(id), clientToken },
  })
  expect((await mailbox.mailTo(email, 2)).text).toContain('\nhttp://localhost:3000/email-undo#')
})

test('a change closes the other sessions and leaves the one that made it', async () => {
  const laptop = await app.signUp()
  const phone = await app.signIn(laptop.email, 'phone')
  const neighbour = await app.signUp()
  await move(laptop, newEmail())
  expect(await isSignedIn(laptop)).toBe(true)
  expect(await isSignedIn(phone)).toBe(false)
  expect(await isSignedIn(neighbour)).toBe(true)
})

test('of two concurrent changes of one account one succeeds, and closes the session of the other', async () => {
  const laptop = await app.signUp()
  const phone = await app.signIn(laptop.email, 'phone')
  const [ours, theirs] = [newEmail(), newEmail()]
  const ids = [await start(laptop, ours), await start(phone, theirs)] as const
  const answers = await Promise.all([verify(laptop, ids[0]), verify(phone, ids[1])])
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  expect([400, 401]).toContain(answers.find(({ status }) => status !== 200)?.status)
  expect(await emailOf(laptop)).toBe(answers[0].status === 200 ? ours : theirs)
})

test('the link restores exactly the old address, and closes every session', async () => {
  const olga = await app.signIn(`Olga.${randomUUID()}@example.org`)
  const thief = await app.signIn(olga.email, 'thief')
  const stolen = newEmail()
  const link = await move(thief, stolen, olga.email)
  expect(await undo(link)).toMatchObject({ status: 204, body: undefined })
  expect(await emailOf(olga)).toBe(olga.email)
  expect(await Promise.all([olga, thief].map(isSignedIn))).toEqual([false, false])

  expectRefusal(await startAt(app, '/logins', { email: stolen }), 'USER_NOT_FOUND')
  expect((await app.signIn(olga.email)).id).toBe(olga.id)
})

test('a link works once, and only when it is complete', async () => {
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  const email = newEmail()
  const [olgas, petrs] = [await move(olga, email), await move(petr, newEmail())]
  const wrong = [
    { ...olgas, secret: petrs.secret },
    { ...olgas, secret: olgas.secret.slice(0, -1) },
    { ...olgas, secret: 'x' },
    { ...olgas, id: petrs.id },
    { ...olgas, id: 'unknown' },
  ]
  for (const link of wrong) expectRefusal(await undo(link), 'LINK_EXPIRED')
  expect(await emailOf(olga)).toBe(email)
  expect((await undo(olgas)).status).toBe(204)
  expectRefusal(await undo(olgas), 'LINK_EXPIRED')
})

test('a link works for three days', async () => {
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  const email = newEmail()
  const early = await move(olga, newEmail())
  await passEmailChangeTime(app, 3 * DAY - 60)
  expect((await undo(early)).status).toBe(204)
  const late = await move(petr, email)
  await passEmailChangeTime(app, 3 * DAY)
  expectRefusal(await undo(late), 'LINK_EXPIRED')
  expect(await emailOf(petr)).toBe(email)
})

test('the first link undoes a whole chain of changes, and the later links no longer work', async () => {
  const olga = await app.signUp()
  const [second, third] = [newEmail(), newEmail()]
  const links = [await move(olga, second), await move(olga, third, second)] as const
  expect((await undo(links[0])).status).toBe(204)
  expect(await emailOf(olga)).toBe(olga.email)
  expectRefusal(await undo(links[1]), 'LINK_EXPIRED')
  expect(await emailOf(olga)).toBe(olga.email)
})

test('a later link restores its own old address, and the first one still works after it', async () => {
  const olga = await app.signUp()
  const second = newEmail()
  const links = [await move(olga, second), await move(olga, newEmail(), second)] as const
  expect((await undo(links[1])).status).toBe(204)
  expect(await emailOf(olga)).toBe(second)
  expect((await undo(links[0])).status).toBe(204)
  expect(await emailOf(olga)).toBe(olga.email)
})

test('an undo to an address that another account has is refused with an explanation, and works once the address is free', async () => {
  const olga = await app.signUp()
  const link = await move(olga, newEmail())
  const newcomer = await app.signIn(olga.email)
  const refused = await undo(link)
  expectRefusal(refused, 'EMAIL_ALREADY_EXISTS')
  expect(refused.body.message).toContain('другой аккаунт')
  expect(await isSignedIn(olga)).toBe(true)
  await verify(newcomer, await start(newcomer, newEmail()))
  expect((await undo(link)).status).toBe(204)
  expect(await emailOf(olga)).toBe(olga.email)
})

test('an undo ends a pending change', async () => {
  const olga = await app.signUp()
  const link = await move(olga, newEmail())
  const pending = await start(olga, newEmail())
  await undo(link)
  const again = await app.signIn(olga.email, olga.clientToken)
  expectRefusal(await verify(again, pending), 'OPERATION_EXPIRED')
  expect(await emailOf(olga)).toBe(olga.email)
})

test('of 20 concurrent uses of one link one succeeds, and the others find it used', async () => {
  const olga = await app.signUp()
  const link = await move(olga, newEmail())
  const answers = await atOnce(Array.from({ length: 20 }, () => () => undo(link)))
  expect(countCodes(answers)).toEqual({ ok: 1, LINK_EXPIRED: 19 })
})

test('an undo that races with the thief’s next change wins in either order', async () => {
  for (let round = 0; round < 4; round++) {
    const olga = await app.signUp()
    const link = await move(olga, newEmail())
    const next = await start(olga, newEmail())
    const [undone, moved] = await Promise.all([undo(link), verify(olga, next)])
    expect(undone.status).toBe(204)
    expect([200, 400, 401]).toContain(moved.status)
    expect(await emailOf(olga)).toBe(olga.email)
    expect(await isSignedIn(olga)).toBe(false)
  }
})

test('when two links of one account are used concurrently, the first address wins without an error', async () => {
  for (let round = 0; round < 4; round++) {
    const olga = await app.signUp()
    const second = newEmail()
    const links = [await move(olga, second), await move(olga, newEmail(), second)] as const
    const [first, later] = await Promise.all([undo(links[0]), undo(links[1])])
    expect(first.status).toBe(204)
    expect([204, 400]).toContain(later.status)
    expect(await emailOf(olga)).toBe(olga.email)
  }
})

test.each(['/logins', '/registrations'] as const)(
  'a sign-in by %s that waits for an undo opens no session with the undone address',
  async (path) => {
    const olga = await app.signUp()
    const stolen = newEmail()
    await move(olga, stolen)
    const { id } = (await startAt(app, path, { email: stolen })).body
    const sessions = app.db.selectFrom('sessions').select('id').where('user_id', '=', olga.id)
    const signIn = await app.db.transaction().execute(async (tx) => {
      await tx.selectFrom('users').select('id').where('id', '=', olga.id).forUpdate().execute()
      const answer = verifyAt(app, path, { id, code: app.codeFor(id) })
      await expect.poll(() => lockWaits(app), { timeout: 5000 }).toBeGreaterThan(0)
      await tx
        .updateTable('users')
        .set({ email: olga.email, email_key: olga.email })
        .where('id', '=', olga.id)
        .execute()
      await tx.deleteFrom('sessions').where('user_id', '=', olga.id).execute()
      return { answer }
    })
    const { status } = await signIn.answer
    // The registration proves an address that no account has by now, so it creates a new account.
    expect(status).toBe(path === '/logins' ? 400 : 200)
    expect(await sessions.execute()).toEqual([])
  },
)

test('changes that can no longer be undone are removed hourly', async () => {
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  await move(olga, newEmail())
  await passEmailChangeTime(app, 3 * DAY)
  const link = await move(petr, newEmail())
  await removeExpiredAccountRows(app.db)
  const rows = await app.db.selectFrom('email_changes').select('id').execute()
  expect(rows).toEqual([{ id: link.id }])
})

testPerNode('limits counted in memory, by each node for itself')(
  'a network may undo 20 changes a minute, then gets 429 with Retry-After',
  async () => {
    const strict = await appForTest({ config: { rateLimitScale: 1, trustProxy: ['127.0.0.1'] } })
    const tryOne = (ip: string) =>
      strict.call('POST', '/email-changes/unknown/undo', { body: { secret: 'x' }, ...from(ip) })
    for (let time = 0; time < 20; time++) expect((await tryOne('192.0.2.1')).status).toBe(400)
    expectTooMany(await tryOne('192.0.2.1'), { most: 60 })
    expect((await tryOne('192.0.2.2')).status).toBe(400)
  },
)
