import { expect, test } from 'vitest'
import { changeEmail, undoChange } from '../../testing/email-change-calls.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { wrongCode } from '../../testing/sign-in-calls.ts'
import { appForFile, appForTest, mailAppForTest } from '../../testing/test-app.ts'
import { openBrowser } from './sessions.fixture.ts'

const EMAIL = 'olga@example.org'

const app = await appForFile()

test('a sign-in sets a random cookie of the browser for 180 days, and later ones renew it', async () => {
  const origin = 'https://vsluh.example'
  const app = await appForTest({ config: { publicUrl: origin } })
  const laptop = openBrowser(app, { email: EMAIL, clientToken: 'laptop', origin })
  const signIn = async () => (await laptop.signIn('/registrations')).headers.getSetCookie()[1] ?? ''
  const [value = '', ...attributes] = (await signIn()).split('; ')
  expect(value).toMatch(/^__Host-browser=[\w-]{43}$/)
  const expected = ['HttpOnly', `Max-Age=${180 * 86_400}`, 'Path=/', 'SameSite=Strict', 'Secure']
  expect(attributes.sort()).toEqual(expected)
  expect(await signIn()).toMatch(new RegExp(`^${value};.*Max-Age`))
})

test('a browser that has lost its clientToken refreshes by its cookie alone, and whatever token it has then', async () => {
  const laptop = openBrowser(app, { email: EMAIL, clientToken: 'laptop' })
  await laptop.signIn('/registrations')
  expectRefusal(await laptop.refresh({ clientToken: 'another' }), 'UNAUTHORIZED')
  expect((await laptop.refresh({})).status).toBe(200)
  expect((await laptop.refresh({ clientToken: 'another' })).status).toBe(200)
  expect((await laptop.refresh()).status).toBe(200)

  laptop.jar.delete('browser')
  expectRefusal(await laptop.refresh({}), 'INVALID_REQUEST')
  expectRefusal(await laptop.refresh({ clientToken: 'another' }), 'UNAUTHORIZED')
  laptop.jar.set('browser', 'x'.repeat(43))
  expectRefusal(await laptop.refresh({}), 'UNAUTHORIZED')
})

test('a stranger who computes the owner’s clientToken gets an operation of their own, and is not known', async () => {
  const owner = openBrowser(app, { email: EMAIL, clientToken: 'a fingerprint' })
  await owner.signIn('/registrations')
  const own = (await owner.start('/logins')).body.id
  const stranger = openBrowser(app, { email: EMAIL, clientToken: 'a fingerprint' })
  const { id } = (await stranger.start('/logins')).body
  expect(id).not.toBe(own)
  const wrong = wrongCode(app.codeFor(own))
  for (let attempt = 0; attempt < 5; attempt++) await stranger.verify('/logins', id, wrong)
  expectRefusal(await stranger.verify('/logins', own), 'OPERATION_EXPIRED')
  expect((await owner.verify('/logins', own)).status).toBe(200)
})

test('the next sign-in of a browser whose session was closed, alone, with all others or by the undo of an e-mail change, is announced again', async () => {
  const { app, mailbox } = await mailAppForTest()
  const owner = openBrowser(app, { email: EMAIL, clientToken: 'laptop' })
  const thief = openBrowser(app, { email: EMAIL, clientToken: 'phone' })
  const signedUp = await owner.signIn('/registrations')
  const { token } = signedUp.body.accessToken
  const notices = () => mailbox.mails.filter(({ subject }) => /нового устройства/.test(subject))
  let announced = 0
  const expectAnnounced = async (browser: typeof thief) => {
    await browser.signIn()
    await expect.poll(() => notices().length).toBe(++announced)
  }
  await expectAnnounced(thief)
  const { body } = await owner.call('GET', '/sessions', { token })
  await owner.call('DELETE', `/sessions/${body.sessions[1].id}`, { token })
  await expectAnnounced(thief)
  await owner.call('DELETE', '/sessions', { token })
  // The browser that closed the session is known as before.
  await owner.signIn()
  await expectAnnounced(thief)

  const { body: user } = await app.call('GET', '/users/current', { token })
  const hers = { ...user, token, clientToken: 'laptop', cookie: '', browser: '' }
  await undoChange(app, await changeEmail(app, hers, 'thief@example.org'))
  await expectAnnounced(thief)
})
