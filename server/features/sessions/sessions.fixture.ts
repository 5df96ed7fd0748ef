import { randomUUID } from 'node:crypto'
import { DEVICE, type TestUser } from '../../testing/client.ts'
import type { TestApp } from '../../testing/test-app.ts'

export type Client = Pick<TestUser, 'clientToken' | 'cookie'>

export function refresh(
  app: TestApp,
  { clientToken, cookie }: Client,
  headers: Record<string, string> = {},
) {
  const sent = { body: { clientToken }, headers: { cookie, ...headers } }
  return app.call('PATCH', '/sessions/current', sent)
}

export async function signInTwice(app: TestApp): Promise<[laptop: TestUser, phone: TestUser]> {
  const email = `${randomUUID()}@example.org`
  return [await app.signIn(email, 'laptop'), await app.signIn(email, 'phone')]
}

/** A browser, which keeps the cookies that it gets. It signs in with one e-mail. */
export function openBrowser(
  app: TestApp,
  { email, clientToken, origin }: { email: string; clientToken: string; origin?: string },
) {
  const jar = new Map<string, string>()

  async function call(method: string, path: string, sent: { body?: unknown; token?: string } = {}) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { cookie, ...(origin && { origin }) }
    const answer = await app.call(method, path, { ...sent, headers })
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      jar.set(name, value)
    }
    return answer
  }

  const start = (path: string) =>
    call('POST', path, { body: { email, clientToken, device: DEVICE } })
  const verify = (path: string, id: string, confirmCode = app.codeFor(id)) =>
    call('POST', `${path}/${id}/verify`, { body: { confirmCode, clientToken } })
  const signIn = async (path = '/logins') => verify(path, (await start(path)).body.id)

  return {
    jar,
    call,
    start,
    verify,
    signIn,
    refresh: (body: object = { clientToken }) => call('PATCH', '/sessions/current', { body }),
  }
}
