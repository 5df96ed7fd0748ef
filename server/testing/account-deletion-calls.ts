import type { TestAnswer, TestUser } from './client.ts'
import { startAt } from './sign-in-calls.ts'
import type { TestApp } from './test-app.ts'

/** Deletes an account with a mailed code. Returns the answer to the code, or the refusal to mail one. */
export async function leave(
  app: Pick<TestApp, 'call' | 'codeFor'>,
  { token, clientToken }: TestUser,
): Promise<TestAnswer> {
  const start = await app.call('POST', '/users/current/deletion', { token, body: { clientToken } })
  if (start.status !== 201) return start
  const body = { confirmCode: app.codeFor(start.body.id), clientToken }
  return app.call('POST', `/users/current/deletion/${start.body.id}/verify`, { token, body })
}

/** Signs in by mail, with `restore` if the account was deleted. */
export async function comeBack(app: TestApp, email: string, restore?: true): Promise<TestAnswer> {
  const { id } = (await startAt(app, '/logins', { email })).body
  const body = { confirmCode: app.codeFor(id), clientToken: 'one browser' }
  return app.call('POST', `/logins/${id}/verify`, {
    body: { ...body, ...(restore && { restore }) },
  })
}
