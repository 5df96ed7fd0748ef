import { isoCBOR } from '@simplewebauthn/server/helpers'
import { expect, test } from 'vitest'
import { Authenticator } from '../../testing/authenticator.ts'
import { leave } from '../../testing/calls/account-deletion-calls.ts'
import { newEmail } from '../../testing/calls/account-fixture.ts'
import { isSignedIn, undoChange } from '../../testing/calls/email-change-calls.ts'
import { signUpModerator } from '../../testing/calls/moderation-calls.ts'
import {
  addPasskey,
  listPasskeys,
  newestUndo,
  removePasskey,
  signInWith,
  startPasskey,
  startPasskeyLogin,
  verifyPasskey,
  verifyPasskeyLogin,
} from '../../testing/calls/passkey-calls.ts'
import { countCodes, startAt, verifyAt } from '../../testing/calls/sign-in-calls.ts'
import { passTime } from '../../testing/database/passing-time.ts'
import { browserOf, type TestAnswer, type TestUser } from '../../testing/http/client.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { appForFile, strictApp } from '../../testing/test-app.ts'
import { changeLostEmail } from '../account/account.service.ts'
import { eraseNow } from '../account-deletion/account-deletion.service.ts'
import { addBan } from '../site-state/site-state.service.ts'

const DAY = 86_400
const ROUNDS = [1, 2, 3, 4]
const app = await appForFile()

async function personWithKey() {
  const person = await app.signUp()
  const key = new Authenticator()
  return { person, key, ...(await addPasskey(app, person, key)) }
}

/** Starts a sign-in. Returns a function that sends an assertion as the browser that started it. */
async function beginSignIn(clientToken = 'browser') {
  const started = await startPasskeyLogin(app, { clientToken })
  const { id, options } = started.body
  const browser = browserOf(started)
  const send = (assertion: ReturnType<Authenticator['get']>) =>
    verifyPasskeyLogin(app, { id, clientToken, browser, assertion })
  return { id, options, send }
}

const countSessions = async ({ id }: TestUser) =>
  (await app.sql`SELECT FROM sessions WHERE user_id = ${id}`).length

test.for([
  { crossOrigin: true },
  { crossOrigin: true, topOrigin: 'https://evil.example' },
  { topOrigin: 'https://evil.example' },
])('a page in a frame of another site neither signs in nor adds a passkey: %o', async (frame) => {
  const { person, key } = await personWithKey()
  const framed = new Authenticator({ frame })
  const { options, send } = await beginSignIn()
  expectRefusal(await send(framed.get(options, app.url, key.credentials[0])), 'INVALID_PASSKEY')
  const adding = (await startPasskey(app, person)).body
  const created = framed.create(adding.options, app.url)
  expectRefusal(await verifyPasskey(app, person, adding.id, created), 'INVALID_PASSKEY')
})

test('a challenge for adding signs nobody in, and one for signing in adds nothing', async () => {
  const { person, key } = await personWithKey()
  const login = await beginSignIn()
  const adding = (await startPasskey(app, person)).body
  const { challenge } = adding.options
  const signed = key.get({ ...login.options, challenge }, app.url)
  expectRefusal(await login.send(signed), 'INVALID_PASSKEY')
  const swapped = { ...adding.options, challenge: login.options.challenge }
  const created = key.create(swapped, app.url)
  expectRefusal(await verifyPasskey(app, person, adding.id, created), 'INVALID_PASSKEY')
  expectRefusal(await verifyPasskey(app, person, login.id, created), 'OPERATION_EXPIRED')
})

test('one challenge signs in once, also if the passkeys of two accounts sign it at once', async () => {
  const [one, other] = [await personWithKey(), await personWithKey()]
  const { options, send } = await beginSignIn()
  const signed = [one, other].map(({ key }) => key.get(options, app.url))
  const answers = await Promise.all(signed.map(send))
  expect(countCodes(answers)).toEqual({ ok: 1, OPERATION_EXPIRED: 1 })
  const sessions = [await countSessions(one.person), await countSessions(other.person)]
  expect(sessions.toSorted()).toEqual([1, 2])
})

test('one passkey is added once, also if two accounts add it at once', async () => {
  const people = await app.signUps(2)
  const id = Buffer.from('the same id in two accounts')
  const add = async (person: TestUser): Promise<TestAnswer> => {
    const { body } = await startPasskey(app, person)
    const created = new Authenticator().create(body.options, app.url, id)
    return verifyPasskey(app, person, body.id, created)
  }
  const answers = await Promise.all(people.map(add))
  expect(countCodes(answers)).toEqual({ ok: 1, INVALID_PASSKEY: 1 })
  for (const person of people) expectRefusal(await add(person), 'INVALID_PASSKEY')
})

test.for(ROUNDS)('a passkey that is removed meanwhile signs nobody in (%i)', async () => {
  const { person, key, id } = await personWithKey()
  const { options, send } = await beginSignIn()
  const signed = key.get(options, app.url)
  const [removed] = await Promise.all([removePasskey(app, person, id), send(signed)])
  expect(removed.status).toBe(204)
  expectRefusal(await send(signed), 'INVALID_PASSKEY')
  expect(app.logged.filter((line) => line.includes('may be a copy'))).toEqual([])
})

test.for(ROUNDS)(
  'the undo of an addition wins over its removal at the same time (%i)',
  async () => {
    const { person, key, id } = await personWithKey()
    const link = await newestUndo(app, person)
    const [undone] = await Promise.all([undoChange(app, link), removePasskey(app, person, id)])
    expect(undone.status).toBe(204)
    expectRefusal(await signInWith(app, key), 'INVALID_PASSKEY')
    expect(await isSignedIn(app, person)).toBe(false)
  },
)

test('the first link ends all that a thief holds: sessions, challenges, answers to repeat, and the passkey', async () => {
  const { person, key, id } = await personWithKey()
  await passTime(app.db, 4 * DAY, 'email_changes', 'expires_at')
  const thief = await app.signIn(person.email, 'thief')
  const stolen = new Authenticator()
  await addPasskey(app, thief, stolen)
  const link = await newestUndo(app, person)
  expect((await removePasskey(app, thief, id)).status).toBe(204)
  const adding = (await startPasskey(app, thief)).body
  const created = new Authenticator().create(adding.options, app.url)
  const [done, pending] = [await beginSignIn('one'), await beginSignIn('other')]
  const [first, late] = [stolen.get(done.options, app.url), stolen.get(pending.options, app.url)]
  expect((await done.send(first)).status).toBe(200)
  const [undone] = await Promise.all([
    undoChange(app, link),
    pending.send(late),
    verifyPasskey(app, thief, adding.id, created),
  ])
  expect(undone.status).toBe(204)
  expect(await countSessions(person)).toBe(0)
  for (const answer of [await done.send(first), await pending.send(late)]) {
    expectRefusal(answer, 'INVALID_PASSKEY')
  }
  expectRefusal(await verifyPasskey(app, thief, adding.id, created), 'UNAUTHORIZED')
  expect((await signInWith(app, key)).status).toBe(200)
  const back = await app.signIn(person.email)
  expect(await listPasskeys(app, back)).toMatchObject([{ id }])
})

test('a link works once, and for three days', async () => {
  const { person } = await personWithKey()
  const link = await newestUndo(app, person)
  expect((await undoChange(app, link)).status).toBe(204)
  await passTime(app.db, 121, 'email_changes', 'undone_at', 'expires_at')
  expectRefusal(await undoChange(app, link), 'LINK_EXPIRED')

  const other = await personWithKey()
  const old = await newestUndo(app, other.person)
  await passTime(app.db, 3 * DAY + 1, 'email_changes', 'expires_at')
  expectRefusal(await undoChange(app, old), 'LINK_EXPIRED')
  expect(await listPasskeys(app, other.person)).toHaveLength(1)
})

test.for(ROUNDS)(
  'a lost mailbox is replaced, whoever signs in or adds a passkey meanwhile (%i)',
  async () => {
    const { person, key } = await personWithKey()
    const { body: adding } = await startPasskey(app, person)
    const created = new Authenticator().create(adding.options, app.url)
    const { options, send } = await beginSignIn()
    const signed = key.get(options, app.url)
    const lost = { userId: person.id, email: newEmail(), reason: 'Потерян ящик', actor: 'operator' }
    await Promise.all([
      app.db.transaction().execute((tx) => changeLostEmail(tx, lost)),
      send(signed),
      verifyPasskey(app, person, adding.id, created),
    ])
    expect(await countSessions(person)).toBe(0)
    const left =
      await app.sql`SELECT FROM passkeys WHERE user_id = ${person.id} AND removed_at IS NULL`
    expect(left).toEqual([])
    expectRefusal(await send(signed), 'INVALID_PASSKEY')
  },
)

test('neither strangers nor neighbours keep anybody’s passkey out, and a thief not the owner from removing theirs', async () => {
  const strict = await strictApp()
  const olga = await strict.signUp()
  const key = new Authenticator()
  const { id } = await addPasskey(strict, olga, key)
  const home = '203.0.113.7'
  const { body } = await startPasskeyLogin(strict, { ip: home })
  const wrong = { ...key.get(body.options, strict.url), signature: 'AAAA' }
  const guess = () => verifyPasskeyLogin(strict, { id: body.id, assertion: wrong, ip: home })
  for (let n = 0; n < 20; n++) expectRefusal(await guess(), 'INVALID_PASSKEY')
  expect((await guess()).status).toBe(429)
  for (const ip of [home, '198.51.100.7']) {
    expect((await signInWith(strict, key, { ip })).status).toBe(200)
  }
  while ((await startPasskey(strict, olga)).status === 201);
  expect((await removePasskey(strict, olga, id)).status).toBe(204)
})

type Person = Awaited<ReturnType<typeof personWithKey>>

/** Starts a sign-in. Returns a function that finishes it, and with which a lost answer is repeated. */
async function startByCode({ person }: Person) {
  const { body } = await startAt(app, '/logins', { email: person.email })
  return (restore?: true) => verifyAt(app, '/logins', { id: body.id, restore })
}

async function startByKey({ key }: Person) {
  const started = await startPasskeyLogin(app)
  const { id, options } = started.body
  const assertion = key.get(options, app.url)
  return (restore?: true) =>
    verifyPasskeyLogin(app, { id, assertion, browser: browserOf(started), restore })
}

/** What a passkey must do as a code does. */
const WAYS: [way: string, start: typeof startByCode][] = [
  ['a code', startByCode],
  ['a passkey', startByKey],
]

async function block({ person }: Person, days: number | null): Promise<void> {
  const { token } = await signUpModerator(app)
  const body = { reason: 'Спам', days }
  const path = `/moderation/users/${person.id}/block`
  expect((await app.call('PUT', path, { token, body })).status).toBe(204)
}

const publish = (token: string) => app.call('POST', '/posts', { token, body: { text: 'Я тут' } })
const tokenOf = ({ status, body }: TestAnswer): string => {
  expect(status, JSON.stringify(body)).toBe(200)
  return body.accessToken.token
}

test.for(WAYS)(
  'with %s a blocked person signs in, also past a ban, and may publish nothing',
  async ([, start]) => {
    const olga = await personWithKey()
    const begun = await start(olga)
    await block(olga, null)
    const ban = { kind: 'email', value: olga.person.email, coversAll: false } as const
    const why = { reason: 'Спам', actor: 'masha', seconds: null }
    expect(await addBan(app.db, { ...ban, ...why })).toBeDefined()
    expectRefusal(await publish(olga.person.token), 'UNAUTHORIZED')
    for (const finish of [begun, await start(olga)]) {
      const token = tokenOf(await finish())
      expectRefusal(await publish(token), 'BLOCKED')
      expect((await app.read('/users/current', { token })).id).toBe(olga.person.id)
    }
  },
)

test.for(WAYS)(
  'with %s a person returns to a deleted account only on purpose and within 14 days, blocked as before, and no answer from before is repeated',
  async ([, start]) => {
    const olga = await personWithKey()
    const before = await start(olga)
    tokenOf(await before())
    const begun = await start(olga)
    await block(olga, 30)
    const { status } = await leave(app, await app.signIn(olga.person.email))
    expect(status).toBe(200)
    for (const restore of [undefined, true] as const) {
      expectRefusal(await before(restore), 'OPERATION_EXPIRED')
    }
    expectRefusal(await begun(), 'ACCOUNT_DELETED')
    expect(await countSessions(olga.person)).toBe(0)
    const token = tokenOf(await begun(true))
    expectRefusal(await publish(token), 'BLOCKED')

    expect((await leave(app, await app.signIn(olga.person.email))).status).toBe(200)
    await app.sql`UPDATE users SET deleted_at = now() - interval '14 days 1 second'
      WHERE id = ${olga.person.id}`
    const late = await start(olga)
    expectRefusal(await late(true), 'OPERATION_EXPIRED')
    expect(await countSessions(olga.person)).toBe(0)
  },
)

test('a passkey of an erased account opens nothing, nor the next account of its mailbox', async () => {
  const olga = await personWithKey()
  const begun = await startByKey(olga)
  const erasure = { nameKey: Buffer.alloc(32, 7), actor: 'masha', publishChange: async () => {} }
  await eraseNow(app.db, { userId: olga.person.id, ...erasure })
  const next = await app.signIn(olga.person.email)
  for (const finish of [begun, await startByKey(olga)]) {
    expectRefusal(await finish(true), 'INVALID_PASSKEY')
  }
  expect(next.id).not.toBe(olga.person.id)
  expect(await listPasskeys(app, next)).toEqual([])
})

type Statement = Map<string, unknown>

/** Changes what no signature protects. */
function changed(attestationObject: string, change: (statement: Statement) => void): string {
  const bytes = new Uint8Array(Buffer.from(attestationObject, 'base64url'))
  const statement = isoCBOR.decodeFirst<Statement>(bytes)
  change(statement)
  return Buffer.from(isoCBOR.encode(statement as never)).toString('base64url')
}

const ofBytes = (hex: string) => () => Buffer.from(hex, 'hex').toString('base64url')
const withStatement = (fmt: string, attStmt: unknown) => (right: string) =>
  changed(right, (statement) => statement.set('fmt', fmt).set('attStmt', attStmt))
const withData = (change: (data: Buffer) => Buffer) => (right: string) =>
  changed(right, (statement) => {
    const data = Buffer.from(statement.get('authData') as Uint8Array)
    statement.set('authData', new Uint8Array(change(data)))
  })
const withFlags = (change: (flags: number) => number) =>
  withData((data) => {
    data[32] = change(data[32] ?? 0)
    return data
  })
const X5C = new Map([['x5c', [new Uint8Array(500)]]])

test.for<[string, (right: string) => string]>([
  ['5,900 arrays in each other', () => Buffer.alloc(5900, 0x81).toString('base64url')],
  ['an array of four billion items', ofBytes('9affffffff00')],
  ['a map of more than memory holds', ofBytes('bb00ffffffffffffff00')],
  ['a text that is longer than its bytes', ofBytes('7affffffff61')],
  [
    'an unknown algorithm',
    withData((data) => Buffer.from(data.toString('hex').replace('0326', '0338'), 'hex')),
  ],
  ['nobody present', withFlags((flags) => flags & ~0x01)],
  ['nobody verified', withFlags((flags) => flags & ~0x04)],
  ['no passkey in it', withFlags((flags) => flags & ~0x40)],
  ['a copy of what cannot be copied', withFlags((flags) => flags | 0x10)],
  ['the hash of another host', withData((data) => data.fill(1, 0, 32))],
  ['bytes at the end', withData((data) => Buffer.concat([data, Buffer.alloc(20)]))],
  ['half of it', withData((data) => data.subarray(0, 60))],
  ['a format of JavaScript’s own', withStatement('__proto__', new Map())],
  ['a statement that is a number', withStatement('none', 5)],
  ['a statement where there is none', withStatement('none', new Map([['sig', new Uint8Array(8)]]))],
  ['no signature', withStatement('packed', new Map())],
  ['a certificate', withStatement('packed', X5C)],
  ['a certificate without a place', withStatement('none', X5C)],
  ['an old Android', withStatement('android-safetynet', new Map())],
])('a new passkey with %s is refused at once', async ([, spoil]) => {
  const person = await app.signUp()
  const { id, options } = (await startPasskey(app, person)).body
  const right = new Authenticator().create(options, app.url)
  const attestationObject = spoil(right.attestationObject)
  const began = performance.now()
  const answer = await verifyPasskey(app, person, id, { ...right, attestationObject })
  expectRefusal(answer, 'INVALID_PASSKEY')
  expect(performance.now() - began).toBeLessThan(2000)
  expect((await verifyPasskey(app, person, id, right)).status).toBe(200)
})
