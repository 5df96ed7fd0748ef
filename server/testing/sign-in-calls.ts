import { DEVICE, type TestAnswer } from './client.ts'
import type { TestApp } from './test-app.ts'

type Path = '/registrations' | '/logins'
type Start = { email: string; clientToken?: string; ip?: string }
type Verify = { id: string; code: string; clientToken?: string; ip?: string }

/** The header by which a trusted proxy tells whom it speaks for. */
export function from(ip: string | undefined): { headers: Record<string, string> } {
  return { headers: ip === undefined ? {} : { 'x-forwarded-for': ip } }
}

/** Asks for a code, as one browser unless told otherwise. */
export function startAt(
  app: TestApp,
  path: Path,
  { email, clientToken = 'one browser', ip }: Start,
): Promise<TestAnswer> {
  return app.call('POST', path, { body: { email, clientToken, device: DEVICE }, ...from(ip) })
}

/** Sends a code, from the same browser unless told otherwise. */
export function verifyAt(
  app: TestApp,
  path: Path,
  { id, code, clientToken = 'one browser', ip }: Verify,
): Promise<TestAnswer> {
  const body = { confirmCode: code, clientToken }
  return app.call('POST', `${path}/${id}/verify`, { body, ...from(ip) })
}

/** A code that is not the right one. */
export function wrongCode(right: string): string {
  return right === '000000' ? '000001' : '000000'
}

/** How often each code stands among refusals, successes as `ok`. */
export function countCodes(answers: TestAnswer[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status, body } of answers) {
    const name = status < 400 ? 'ok' : body.code
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}
