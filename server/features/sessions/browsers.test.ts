import { expect, test } from 'vitest'
import { DEVICE } from '../../testing/client.ts'
import { changeEmail, undoChange } from '../../testing/email-change-calls.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { wrongCode } from '../../testing/sign-in-calls.ts'
import { appForTest, mailAppForTest, type TestApp } from '../../testing/test-app.ts'

const EMAIL = 'olga@example.org'

/** A browser keeps the cookies that it gets. */
function openBrowser(app: TestApp, clientToken: string) {
  const jar = new Map<string, string>()

  async function call(method: string, path: string, sent: { body?: unknown; token?: string } = {}) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await app.call(method, path, { ...sent, headers: { cookie } })
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      jar.set(name, value)
    }
    return answer
  }

  const start = (path: string) =>
    call('POST', path, { body: { email: EMAIL, clientToken, device: DEVICE } })
  const verify = (path: string, id: string, confirmCode = app.codeFor(id)) =>
    call('POST', `${path}/${id}/verify`, { body: { confirmCode, clientToken } })

  return {
    jar,
    call,
    start,
    verify,
    async signIn(path = '/logins'): Promise<string> {
      const { body } = await start(path)
      return (await verify(path, body.id)).body.accessToken.token
    },
    refresh: (body: object = { clientToken }) => call('PATCH', '/sessions/current', { body }),
  }
}

test('a sign-in sets a random cookie of the browser for 180 days, and later ones renew it', async () => {
  const app = await appForTest({ config: { publicUrl: 'https://vsluh.example' } })
  const signIn = async (headers: Record<string, string>) => {
    const sent = { email: EMAIL, clientToken: 'laptop', device: DEVICE }
    const { body } = await app.call('POST', '/registrations', { body: sent, headers })
    const verified = await app.call('POST', `/registrations/${body.id}/verify`, {
      body: { confirmCode: app.codeFor(body.id), clientToken: 'laptop' },
      headers: { ...headers, origin: 'https://vsluh.example' },
    })
    return verified.headers.getSetCookie()[1] ?? ''
  }
  const [value = '', ...attributes] = (await signIn({})).split('; ')
  expect(value).toMatch(/^__Host-browser=[\w-]{43}$/)
  const expected = ['HttpOnly', `Max-Age=${180 * 86_400}`, 'Path=/', 'SameSite=Strict', 'Secure']
  expect(attributes.sort()).toEqual(expected)
  expect(await signIn({ cookie: value })).toMatch(new RegExp(`^${value};.*Max-Age`))
})

test('a browser that has lost its clientToken refreshes by its cookie alone, and whatever token it has then', async () => {
  const app = await appForTest()
  const laptop = openBrowser(app, 'laptop')
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
  const owner = openBrowser(app, 'a fingerprint')
  await owner.signIn('/registrations')
  const own = (await owner.start('/logins')).body.id
  const stranger = openBrowser(app, 'a fingerprint')
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
    const owner = openBrowser(app, 'laptop')
    const token = await owner.signIn('/registrations')
    const thief = openBrowser(app, 'phone')
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
      const again = openBrowser(app, 'tablet')
      await again.signIn()
      await expect.poll(() => notices().length).toBe(3)
    }
  },
)
