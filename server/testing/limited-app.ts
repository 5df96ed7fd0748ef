import type { Config } from '../kernel/config/config.ts'
import type { TestAnswer } from './client.ts'
import { startAt } from './sign-in-calls.ts'
import { appForTest, type TestApp } from './test-app.ts'

/** The limits are the default ones, and a proxy on this machine names the client's address. */
export function strictApp(config: Partial<Config> = {}): Promise<TestApp> {
  return appForTest({ config: { rateLimitScale: 1, trustProxy: ['127.0.0.1'], ...config } })
}

let number = 0
export function ask(
  app: TestApp,
  ip?: string,
  path: '/logins' | '/registrations' = '/registrations',
) {
  const email = `asker-${number++}@example.org`
  return startAt(app, path, { email, ...(ip !== undefined && { ip }) })
}

export async function times(count: number, act: () => Promise<TestAnswer>): Promise<TestAnswer[]> {
  const answers: TestAnswer[] = []
  for (let time = 0; time < count; time++) answers.push(await act())
  return answers
}
