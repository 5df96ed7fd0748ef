import { expect, test } from 'vitest'
import { Authenticator } from '../../testing/authenticator.ts'
import { areTransitionsDone, leave } from '../../testing/calls/account-deletion-calls.ts'
import { newEmail } from '../../testing/calls/account-fixture.ts'
import {
  changeEmail,
  isSignedIn,
  storedEmail,
  undoChange,
} from '../../testing/calls/email-change-calls.ts'
import {
  addPasskey,
  listPasskeys,
  newestUndo,
  passPasskeyTime,
  removePasskey,
  signInWith,
  startPasskey,
  startPasskeyLogin,
  verifyPasskey,
  verifyPasskeyLogin,
} from '../../testing/calls/passkey-calls.ts'
import { countCodes } from '../../testing/calls/sign-in-calls.ts'
import { passTime } from '../../testing/database/passing-time.ts'
import { atOnce } from '../../testing/http/at-once.ts'
import { browserOf, type TestAnswer } from '../../testing/http/client.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { appForTest, mailAppForFile, strictApp } from '../../testing/test-app.ts'
import { removeExpiredAccountRows } from '../account/account.repository.ts'
import { eraseRemovedPasskeys, removeExpiredPasskeyOperations } from './passkeys.repository.ts'

const DAY = 86_400
const { app, mailbox } = await mailAppForFile()

/** Whoever a sign-in has signed in. */
async function userOf({ status, body }: TestAnswer) {
  expect(status, JSON.stringify(body)).toBe(200)
  const { token } = body.accessToken
  return { ...(await app.read('/users/current', { token })), token }
}

test('a passkey is added with its device’s name, is listed without secrets, and signs in to its account', async () => {
  const olga = await app.signUp()
  const phone = new Authenticator()
  const added = await addPasskey(app, olga, phone)
  const shown = { id: expect.any(String), name: 'Firefox, Linux', usedAt: null }
  expect(added).toEqual({ ...shown, createdAt: expect.any(Number) })
  const signedIn = await signInWith(app, phone, { clientToken: 'elsewhere' })
  expect(signedIn.cookie).toMatch(/session-0=/)
  expect((await userOf(signedIn)).id).toBe(olga.id)
  expect(await listPasskeys(app, olga)).toEqual([{ ...added, usedAt: expect.any(Number) }])
  expect(await listPasskeys(app, await app.signUp())).toEqual([])
})

test('a passkey of a known provider has its name; a rename takes any visible line, cleaned as texts are', async () => {
  const olga = await app.signUp()
  const provider = new Authenticator({ aaguid: 'ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4' })
  const { id, name } = await addPasskey(app, olga, provider)
  expect(name).toBe('Google Password Manager')
  const rename = (body: object, { token } = olga) =>
    app.call('PATCH', `/users/current/passkeys/${id}`, { token, body })
  expect((await rename({ name: ' Телефон ' })).body).toMatchObject({ id, name: 'Телефон' })
  for (const [typed, stored] of [
    ['\u202eтелефон\u202c', 'телефон'],
    ['Мои\u0306\u00a0\u2028  ключ', 'Мой ключ'],
    [`Ключ${'\u0301'.repeat(30)}`, `Ключ${'\u0301'.repeat(8)}`],
    ['Телефон', 'Телефон'],
  ] as const) {
    expect((await rename({ name: typed })).body).toMatchObject({ name: stored })
  }
  for (const name of ['', ' ', '\u200b', '\u202e', 'x'.repeat(61), 'a\nb']) {
    expectRefusal(await rename({ name }), 'INVALID_REQUEST')
  }
  expectRefusal(await rename({ name: 'Чужой' }, await app.signUp()), 'PASSKEY_NOT_FOUND')
  expect(await listPasskeys(app, olga)).toMatchObject([{ name: 'Телефон' }])
})

test('adding and removing a passkey mails the address of the account, with the link that undoes it and closes every session', async () => {
  const olga = await app.signUp()
  const thief = await app.signIn(olga.email, 'thief')
  const [own, stolen] = [new Authenticator(), new Authenticator()]
  const { id } = await addPasskey(app, olga, own)
  await addPasskey(app, thief, stolen)
  expect((await removePasskey(app, thief, id)).status).toBe(204)
  expectRefusal(await signInWith(app, own), 'INVALID_PASSKEY')
  const removal = await newestUndo(app, olga)
  const notices = () =>
    mailbox.mails.filter(({ to, text }) => to === olga.email && /passkey-undo#/.test(text))
  await expect.poll(() => notices().length).toBe(3)
  const subjects = notices().map(({ subject }) => subject.replace(/ · .*/, ''))
  expect(subjects).toEqual([
    'Добавлен ключ доступа',
    'Добавлен ключ доступа',
    'Удалён ключ доступа',
  ])
  expect(notices().at(-1)?.text).toContain(`/passkey-undo#${removal.id}.${removal.secret}\n`)
  expect(notices().at(-1)?.text).toMatch(/«Firefox, Linux»:\n\d+ [а-я]+ в \d\d:\d\d по Москве/)

  for (const _ of ['lost', 'received']) expect((await undoChange(app, removal)).status).toBe(204)
  expect(await isSignedIn(app, thief)).toBe(false)
  expect((await userOf(await signInWith(app, own))).id).toBe(olga.id)
  // The thief's passkey is older than that change; its own link, which was mailed again, removes it.
  expect((await userOf(await signInWith(app, stolen))).id).toBe(olga.id)
  const addition = await newestUndo(app, olga)
  await expect.poll(() => notices().filter(({ text }) => text.includes(addition.id)).length).toBe(1)
})

test('an undo of the e-mail also undoes what has become of the passkeys since', async () => {
  const olga = await app.signUp()
  const thief = await app.signIn(olga.email, 'thief')
  const [own, stolen] = [new Authenticator(), new Authenticator()]
  const { id } = await addPasskey(app, olga, own)
  const link = await changeEmail(app, thief, newEmail())
  await addPasskey(app, thief, stolen)
  await removePasskey(app, thief, id)
  const thiefs = await newestUndo(app, olga)
  expect((await undoChange(app, link)).status).toBe(204)
  expect(await storedEmail(app, olga)).toBe(olga.email)
  expectRefusal(await signInWith(app, stolen), 'INVALID_PASSKEY')
  expect((await userOf(await signInWith(app, own))).id).toBe(olga.id)
  expectRefusal(await undoChange(app, thiefs), 'LINK_EXPIRED')
})

test('the link of a passkey that was added before a theft also returns the e-mail', async () => {
  const olga = await app.signUp()
  const thief = await app.signIn(olga.email, 'thief')
  await addPasskey(app, thief, new Authenticator())
  const link = await newestUndo(app, olga)
  await changeEmail(app, thief, newEmail())
  expect((await undoChange(app, link)).status).toBe(204)
  expect(await storedEmail(app, olga)).toBe(olga.email)
  expect(await listPasskeys(app, await app.signIn(olga.email))).toEqual([])
})

test('a removed passkey is erased once it can no longer come back', async () => {
  const olga = await app.signUp()
  const { id } = await addPasskey(app, olga, new Authenticator())
  await removePasskey(app, olga, id)
  expect((await removePasskey(app, olga, id)).status).toBe(204)
  const prune = () => removeExpiredAccountRows(app.db).then(() => eraseRemovedPasskeys(app.db))
  const stored = () => app.sql`SELECT FROM passkeys WHERE id = ${id}`
  await prune()
  expect(await stored()).toHaveLength(1)
  await passTime(app.db, 3 * DAY, 'email_changes', 'expires_at')
  await prune()
  expect(await stored()).toEqual([])
  expectRefusal(await removePasskey(app, olga, id), 'PASSKEY_NOT_FOUND')
})

test('a user has at most ten passkeys, also if two are added at once', async () => {
  const olga = await app.signUp()
  const phone = new Authenticator()
  for (let n = 0; n < 9; n++) await addPasskey(app, olga, phone)
  const starts = [await startPasskey(app, olga), await startPasskey(app, olga)]
  expect(starts[0]?.body.options.excludeCredentials).toHaveLength(9)
  const answers = await atOnce(
    starts.map(({ body }) => () => {
      return verifyPasskey(app, olga, body.id, phone.create(body.options, app.url))
    }),
  )
  expect(countCodes(answers)).toEqual({ ok: 1, TOO_MANY_PASSKEYS: 1 })
  expectRefusal(await startPasskey(app, olga), 'TOO_MANY_PASSKEYS')
})

test('a lost answer is repeated for two minutes: one passkey, one session, one notice', async () => {
  const olga = await app.signUp()
  const phone = new Authenticator()
  const { body } = await startPasskey(app, olga)
  const attestation = phone.create(body.options, app.url)
  const both = await atOnce([1, 2].map(() => () => verifyPasskey(app, olga, body.id, attestation)))
  expect(both.map(({ status }) => status)).toEqual([200, 200])
  expect(both[0]?.body).toEqual(both[1]?.body)
  expect(await listPasskeys(app, olga)).toHaveLength(1)

  const started = await startPasskeyLogin(app, { clientToken: 'new' })
  const assertion = phone.get(started.body.options, app.url)
  const login = { id: started.body.id, assertion, clientToken: 'new', browser: browserOf(started) }
  const answers = await atOnce([1, 2].map(() => () => verifyPasskeyLogin(app, login)))
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  expect(new Set(answers.map(({ cookie }) => cookie)).size).toBe(1)
  const { sessions } = (await app.call('GET', '/sessions', { token: olga.token })).body
  expect(sessions).toHaveLength(2)
  await passPasskeyTime(app, 121)
  expectRefusal(await verifyPasskeyLogin(app, login), 'OPERATION_EXPIRED')
  await passPasskeyTime(app, 1200)
  await removeExpiredPasskeyOperations(app.db)
  expect(await app.sql`SELECT FROM passkey_operations`).toEqual([])
})

test('a passkey opens nothing with another challenge, origin, host, key, browser or account, or without a check of the person', async () => {
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  const phone = new Authenticator()
  const other = new Authenticator()
  const careless = new Authenticator({ verifiesUser: false })
  await addPasskey(app, olga, phone)
  await addPasskey(app, petr, other)
  const [credential] = phone.credentials
  if (!credential) throw new Error('no passkey')
  const started = await startPasskeyLogin(app)
  const browser = browserOf(started)
  const { id, options } = started.body
  const right = phone.get(options, app.url)
  const others = other.get(options, app.url)
  const elsewhere = (await startPasskeyLogin(app, { clientToken: 'other' })).body
  const wrong = [
    phone.get(elsewhere.options, app.url),
    phone.get(options, 'https://evil.example'),
    phone.get({ ...options, rpId: 'evil.example' }, app.url, credential),
    { ...right, signature: others.signature },
    { ...right, id: others.id },
    { ...others, id: right.id },
    { ...right, userHandle: others.userHandle ?? '' },
    { ...right, authenticatorData: phone.get(options, app.url).authenticatorData },
    { ...right, id: 'unknown' },
    careless.get(options, app.url, { ...credential, counter: 100 }),
  ]
  for (const assertion of wrong) {
    expectRefusal(await verifyPasskeyLogin(app, { id, assertion, browser }), 'INVALID_PASSKEY')
  }
  const adding = (await startPasskey(app, olga)).body
  const ofAdding = phone.get({ ...options, challenge: adding.options.challenge }, app.url)
  const mixed = { id: adding.id, assertion: ofAdding, browser }
  expectRefusal(await verifyPasskeyLogin(app, mixed), 'OPERATION_EXPIRED')
  const stranger = { id, assertion: right, clientToken: 'another browser' }
  expectRefusal(await verifyPasskeyLogin(app, stranger), 'OPERATION_EXPIRED')
  const right2 = phone.get(options, app.url)
  expect((await verifyPasskeyLogin(app, { id, assertion: right2, browser })).status).toBe(200)
  // An assertion that was used signs in nobody else.
  const replayed = { id: elsewhere.id, assertion: right2, clientToken: 'other' }
  expect((await verifyPasskeyLogin(app, replayed)).status).toBe(400)
})

test('a passkey is refused if its counter has gone back, and the log says that it may be a copy', async () => {
  const olga = await app.signUp()
  const key = new Authenticator()
  await addPasskey(app, olga, key)
  expect((await signInWith(app, key)).status).toBe(200)
  const [credential] = key.credentials
  if (credential) credential.counter--
  expectRefusal(await signInWith(app, key), 'INVALID_PASSKEY')
  await app.logLine('passkey refused: it may be a copy')
  expect((await signInWith(app, key)).status).toBe(200)

  const synced = new Authenticator({ hasCounter: false })
  await addPasskey(app, olga, synced)
  for (const _ of [1, 2]) expect((await signInWith(app, synced)).status).toBe(200)
})

test('a new passkey is refused with another challenge or origin, from another user, or with a certificate', async () => {
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  const phone = new Authenticator()
  const { id, options } = (await startPasskey(app, olga)).body
  const right = phone.create(options, app.url)
  const other = (await startPasskey(app, petr)).body
  const wrong = [
    phone.create(other.options, app.url),
    phone.create(options, 'https://evil.example'),
    phone.create({ ...options, rp: { id: 'evil.example' } }, app.url),
    new Authenticator({ verifiesUser: false }).create(options, app.url),
    { ...right, attestationObject: right.attestationObject.slice(0, 80) },
    { ...right, attestationObject: withFormat(right.attestationObject, 'fido-u2f') },
    { ...right, id: 'unknown' },
  ]
  for (const body of wrong) {
    expectRefusal(await verifyPasskey(app, olga, id, body), 'INVALID_PASSKEY')
  }
  expectRefusal(await verifyPasskey(app, petr, id, right), 'OPERATION_EXPIRED')
  expect((await verifyPasskey(app, olga, id, right)).status).toBe(200)
  // Nobody takes somebody else's passkey, whose id they have seen.
  const stolen = phone.create(other.options, app.url, Buffer.from(right.id, 'base64url'))
  expectRefusal(await verifyPasskey(app, petr, other.id, stolen), 'INVALID_PASSKEY')
  expect(await listPasskeys(app, petr)).toEqual([])
})

/** Replaces the format of an attestation, as its CBOR has it. */
function withFormat(attestationObject: string, format: string): string {
  const text = Buffer.from(attestationObject, 'base64url').toString('latin1')
  const changed = text.replace('\x64none', String.fromCharCode(0x60 + format.length) + format)
  return Buffer.from(changed, 'latin1').toString('base64url')
}

test('a passkey returns to a deleted account as a code does, and an erased account has none', async () => {
  const olga = await app.signUp()
  const phone = new Authenticator()
  await addPasskey(app, olga, phone)
  expect((await leave(app, olga)).status).toBe(200)
  const started = await startPasskeyLogin(app)
  const assertion = phone.get(started.body.options, app.url)
  const login = { id: started.body.id, assertion, browser: browserOf(started) }
  expectRefusal(await verifyPasskeyLogin(app, login), 'ACCOUNT_DELETED')
  const back = await verifyPasskeyLogin(app, { ...login, restore: true })
  expect((await userOf(back)).id).toBe(olga.id)
  await expect.poll(() => areTransitionsDone(app)).toBe(true)
})

test('a sign-in with a passkey in an unknown browser is followed by a notice that names the key', async () => {
  const olga = await app.signUp()
  const phone = new Authenticator()
  await addPasskey(app, olga, phone)
  const first = await signInWith(app, phone, { clientToken: 'abroad' })
  await signInWith(app, phone, { clientToken: 'abroad', browser: browserOf(first) })
  const notices = () =>
    mailbox.mails.filter((mail) => mail.to === olga.email && /^Вход с нового/.test(mail.subject))
  await expect.poll(() => notices().length).toBe(1)
  expect(notices()[0]?.text).toContain('Вошли с ключом доступа «Firefox, Linux»')
})

test('passkeys belong to the host of PUBLIC_URL, and pages of other origins get none', async () => {
  const origin = 'https://wall.example'
  const wall = await appForTest({ config: { publicUrl: origin } })
  const olga = await wall.signUp()
  const phone = new Authenticator()
  const from = (origin: string) => ({ token: olga.token, headers: { origin } })
  const start = (at: string) => wall.call('POST', '/users/current/passkeys', from(at))
  for (const other of ['https://evil.example', 'https://a.wall.example', 'http://wall.example']) {
    expectRefusal(await start(other), 'FORBIDDEN')
  }
  const { body } = await start(origin)
  expect(body.options.rp.id).toBe('wall.example')
  const path = `/users/current/passkeys/${body.id}/verify`
  const elsewhere = phone.create(body.options, 'https://a.wall.example')
  expectRefusal(
    await wall.call('POST', path, { ...from(origin), body: elsewhere }),
    'INVALID_PASSKEY',
  )
  const created = phone.create(body.options, origin)
  expect((await wall.call('POST', path, { ...from(origin), body: created })).status).toBe(200)
  const { body: login } = await startPasskeyLogin(wall)
  expect(login.options.rpId).toBe('wall.example')
  const near = { id: login.id, assertion: phone.get(login.options, 'https://a.wall.example') }
  expectRefusal(await verifyPasskeyLogin(wall, near), 'INVALID_PASSKEY')
  const right = { id: login.id, assertion: phone.get(login.options, origin) }
  expect((await verifyPasskeyLogin(wall, right)).status).toBe(200)
})

test('tries with passkeys are limited by network, as codes are', async () => {
  const strict = await strictApp()
  const { id, options } = (await startPasskeyLogin(strict, { ip: '203.0.113.7' })).body
  const phone = new Authenticator()
  phone.create({ ...options, rp: { id: options.rpId }, user: { id: 'MQ' } }, strict.url)
  const guess = { id, assertion: phone.get(options, strict.url), ip: '203.0.113.7' }
  const answers: TestAnswer[] = []
  for (let n = 0; n < 21; n++) answers.push(await verifyPasskeyLogin(strict, guess))
  expect(answers.at(-1)?.body.code).toBe('TOO_MANY_REQUESTS')
  const elsewhere = await verifyPasskeyLogin(strict, { ...guess, ip: '198.51.100.7' })
  expect(elsewhere.status).toBe(400)
})
