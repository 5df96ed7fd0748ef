import { randomUUID } from 'node:crypto'
import { type Path, startAt, verifyAt } from '../../testing/calls/sign-in-calls.ts'
import { browserOf, type TestAnswer, type TestUser } from '../../testing/http/client.ts'
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
export function openBrowser(app: TestApp, client: { email: string; clientToken: string }) {
  let [session, browser] = ['', '']
  async function start(path: Path): Promise<TestAnswer> {
    const answer = await startAt(app, path, { ...client, browser })
    browser = browserOf(answer) || browser
    return answer
  }

  async function verify(path: Path, id: string, code = app.codeFor(id)): Promise<TestAnswer> {
    const answer = await verifyAt(app, path, { id, code, ...client, browser })
    if (answer.status === 200) [session, browser] = [answer.cookie ?? '', browserOf(answer)]
    return answer
  }

  return {
    start,
    verify,
    signIn: async (path: Path = '/logins') => verify(path, (await start(path)).body.id),
    refresh: (body: object = { clientToken: client.clientToken }, known = browser) =>
      app.call('PATCH', '/sessions/current', {
        body,
        headers: { cookie: [session, known].filter(Boolean).join('; ') },
      }),
  }
}
