import { expect } from 'vitest'
import type { TestAnswer, TestUser } from '../http/client.ts'
import { expectRefusal } from '../http/expect-refusal.ts'
import type { TestApp } from '../test-app.ts'
import { clientHeaders } from './sign-in-calls.ts'

/** The notice to the old address links to it. */
type UndoLink = { id: string; secret: string }

export function startChange(
  app: TestApp,
  { token, clientToken }: TestUser,
  email: string,
  ip?: string,
): Promise<TestAnswer> {
  const body = { email, clientToken }
  return app.call('PUT', '/users/current/email', { token, body, ...clientHeaders(ip) })
}

export function verifyChange(
  app: TestApp,
  { token, clientToken }: TestUser,
  id: string,
): Promise<TestAnswer> {
  const body = { confirmCode: app.codeFor(id), clientToken }
  return app.call('PUT', `/users/current/email/${id}/verify`, { token, body })
}

/** Returns the link that undoes the change. */
export async function changeEmail(app: TestApp, user: TestUser, email: string): Promise<UndoLink> {
  const { body } = await startChange(app, user, email)
  expect((await verifyChange(app, user, body.id)).status).toBe(200)
  const changes = app.db.selectFrom('email_changes').select('id').where('user_id', '=', user.id)
  const { id } = await changes.orderBy('number', 'desc').executeTakeFirstOrThrow()
  return { id, secret: app.undoSecretFor(id) }
}

export function undoChange(app: TestApp, { id, secret }: UndoLink): Promise<TestAnswer> {
  return app.call('POST', `/email-changes/${id}/undo`, { body: { secret } })
}

export async function storedEmail({ db }: TestApp, { id }: TestUser): Promise<string> {
  const row = db.selectFrom('users').select('email').where('id', '=', id)
  return (await row.executeTakeFirstOrThrow()).email
}

/** Returns whether a token is accepted. Any other refusal than UNAUTHORIZED fails the test. */
export async function isSignedIn(app: TestApp, { token }: { token: string }): Promise<boolean> {
  const answer = await app.call('GET', '/users/current', { token })
  if (answer.status !== 200) expectRefusal(answer, 'UNAUTHORIZED')
  return answer.status === 200
}
