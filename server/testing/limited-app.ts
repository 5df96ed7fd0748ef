import type { Config } from '../kernel/config/config.ts'
import type { TestAnswer } from './client.ts'
import { startAt } from './sign-in-calls.ts'
import { appForTest, type TestApp } from './test-app.ts'

/** An app with the default limits, which takes the client's address from a proxy on this machine. */
export function strictApp(config: Partial<Config> = {}): Promise<TestApp> {
  return appForTest({ config: { rateLimitScale: 1, trustProxy: ['127.0.0.1'], ...config } })
}

let number = 0
/** Requests a code for a new e-mail. */
export function ask(
  app: TestApp,
  ip?: string,
  path: '/logins' | '/registrations' = '/registrations',
) {
  const email = `asker-${number++}@example.org`
  return startAt(app, path, { email, ...(ip !== undefined && { ip }) })
}

/** Does something as often, one time after another, and returns the answers. */
export async function times(count: number, act: () => Promise<TestAnswer>): Promise<TestAnswer[]> {
  const answers: TestAnswer[] = []
  for (let time = 0; time < count; time++) answers.push(await act())
  return answers
}
