import { DEVICE, type TestAnswer } from '../http/client.ts'
import type { TestApp } from '../test-app.ts'

export type Path = '/registrations' | '/logins'
type Browser = { clientToken?: string; ip?: string; browser?: string }
type WithInvitation = { invitation?: string | undefined }
type Start = Browser & WithInvitation & { email: string }
/** The right code unless another is given. */
type Verify = Browser & WithInvitation & { id: string; code?: string; restore?: true | undefined }

export const ONE_BROWSER = 'one browser'

/** A trusted proxy names the client's address, and a cookie the browser. */
export function clientHeaders(ip?: string, browser?: string): { headers: Record<string, string> } {
  const headers = {
    ...(ip !== undefined && { 'x-forwarded-for': ip }),
    ...(browser !== undefined && { cookie: browser }),
  }
  return { headers }
}

export function startAt(
  app: Pick<TestApp, 'call'>,
  path: Path,
  { email, clientToken = ONE_BROWSER, ip, browser, invitation }: Start,
): Promise<TestAnswer> {
  const body = { email, clientToken, device: DEVICE, invitation }
  return app.call('POST', path, { body, ...clientHeaders(ip, browser) })
}

export function verifyAt(
  app: TestApp,
  path: Path,
  { id, code = app.codeFor(id), clientToken = ONE_BROWSER, ip, browser, ...more }: Verify,
): Promise<TestAnswer> {
  const { invitation, restore } = more
  const body = { confirmCode: code, clientToken, invitation, restore }
  return app.call('POST', `${path}/${id}/verify`, { body, ...clientHeaders(ip, browser) })
}

/** Asks what has become of the mail of an operation. */
export function readMailState(
  app: TestApp,
  id: string,
  clientToken = ONE_BROWSER,
  browser?: string,
): Promise<TestAnswer> {
  return app.call('POST', `/codes/${id}/mail`, {
    body: { clientToken },
    ...clientHeaders(undefined, browser),
  })
}

export function wrongCode(right: string): string {
  return right === '000000' ? '000001' : '000000'
}

/** Counts responses by error code; successful ones count as `ok`. */
export function countCodes(answers: TestAnswer[]): Record<string, number> {
  const codes = Object.groupBy(answers, ({ status, body }): string =>
    status < 400 ? 'ok' : body.code,
  )
  return Object.fromEntries(Object.entries(codes).map(([code, all = []]) => [code, all.length]))
}
