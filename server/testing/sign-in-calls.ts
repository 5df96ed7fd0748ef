import { DEVICE, type TestAnswer } from './client.ts'
import type { TestApp } from './test-app.ts'

type Path = '/registrations' | '/logins'
type Browser = { clientToken?: string; ip?: string; browser?: string }
type Start = Browser & { email: string }
/** The right code unless another is given. */
type Verify = Browser & { id: string; code?: string }

/** A trusted proxy names the client's address in this header. */
export function from(ip: string | undefined): { headers: Record<string, string> } {
  return sentBy({ ip })
}

function sentBy({ ip, browser }: { ip?: string | undefined; browser?: string | undefined }) {
  const headers: Record<string, string> = {
    ...(ip !== undefined && { 'x-forwarded-for': ip }),
    ...(browser !== undefined && { cookie: browser }),
  }
  return { headers }
}

export function startAt(
  app: TestApp,
  path: Path,
  { email, clientToken = 'one browser', ...sent }: Start,
): Promise<TestAnswer> {
  return app.call('POST', path, { body: { email, clientToken, device: DEVICE }, ...sentBy(sent) })
}

export function verifyAt(
  app: TestApp,
  path: Path,
  { id, code = app.codeFor(id), clientToken = 'one browser', ...sent }: Verify,
): Promise<TestAnswer> {
  const body = { confirmCode: code, clientToken }
  return app.call('POST', `${path}/${id}/verify`, { body, ...sentBy(sent) })
}

/** Asks what has become of the mail of an operation. */
export function askMail(
  app: TestApp,
  id: string,
  clientToken = 'one browser',
): Promise<TestAnswer> {
  return app.call('POST', `/codes/${id}/mail`, { body: { clientToken } })
}

export function wrongCode(right: string): string {
  return right === '000000' ? '000001' : '000000'
}

/** Counts responses by error code; successful ones count as `ok`. */
export function countCodes(answers: TestAnswer[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status, body } of answers) {
    const name = status < 400 ? 'ok' : body.code
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}
