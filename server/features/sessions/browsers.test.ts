import { expect, test } from 'vitest'
import { changeEmail, undoChange } from '../../testing/email-change-calls.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { wrongCode } from '../../testing/sign-in-calls.ts'
import { appForTest, mailAppForTest } from '../../testing/test-app.ts'
import { openBrowser } from './sessions.fixture.ts'

const EMAIL = 'olga@example.org'

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
  const app = await appForTest()
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
  const app = await appForTest()
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

test.each(['closed', 'closed with all others', 'closed by the undo of an e-mail change'])(
  'the next sign-in of a browser whose session was %s is announced again',
  async (how) => {
    const { app, mailbox } = await mailAppForTest()
    const owner = openBrowser(app, { email: EMAIL, clientToken: 'laptop' })
    const { token } = (await owner.signIn('/registrations')).body.accessToken
    const thief = openBrowser(app, { email: EMAIL, clientToken: 'phone' })
    const notices = () => mailbox.mails.filter(({ subject }) => /нового устройства/.test(subject))
    await thief.signIn()
    await expect.poll(() => notices().length).toBe(1)

    if (how === 'closed') {
      const { body } = await owner.call('GET', '/sessions', { token })
      await owner.call('DELETE', `/sessions/${body.sessions[1].id}`, { token })
    } else if (how === 'closed with all others') {
      await owner.call('DELETE', '/sessions', { token })
    } else {
      const { body } = await app.call('GET', '/users/current', { token })
      const user = { ...body, token, clientToken: 'laptop', cookie: '', browser: '' }
      const link = await changeEmail({ app, mailbox }, user, { email: 'thief@example.org' })
      await undoChange(app, link)
    }
    await thief.signIn()
    await expect.poll(() => notices().length).toBe(2)

    // The browser that closed the session is known as before.
    if (how !== 'closed by the undo of an e-mail change') {
      await owner.signIn()
      const again = openBrowser(app, { email: EMAIL, clientToken: 'tablet' })
      await again.signIn()
      await expect.poll(() => notices().length).toBe(3)
    }
  },
)
