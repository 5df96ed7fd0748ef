import { expect } from 'vitest'
import type { TestAnswer, TestUser } from './client.ts'
import type { Mailbox } from './mailbox.ts'
import type { TestApp } from './test-app.ts'

/** The notice to the old address links to it. */
export type UndoLink = { id: string; secret: string }

export function startChange(
  app: TestApp,
  { token, clientToken }: TestUser,
  email: string,
): Promise<TestAnswer> {
  return app.call('PUT', '/users/current/email', { token, body: { email, clientToken } })
}

export function verifyChange(
  app: TestApp,
  { token, clientToken }: TestUser,
  id: string,
): Promise<TestAnswer> {
  const body = { confirmCode: app.codeFor(id), clientToken }
  return app.call('PUT', `/users/current/email/${id}/verify`, { token, body })
}

/** Returns the link in the notice to the address `old`. */
export async function changeEmail(
  { app, mailbox }: { app: TestApp; mailbox: Mailbox },
  user: TestUser,
  { email, old = user.email }: { email: string; old?: string },
): Promise<UndoLink> {
  const { id } = (await startChange(app, user, email)).body
  expect((await verifyChange(app, user, id)).status).toBe(200)
  return noticeTo(mailbox, old)
}

async function noticeTo(mailbox: Mailbox, address: string): Promise<UndoLink> {
  const { text } = await mailbox.mailAbout(address, /^Почта аккаунта изменена/)
  const [, id = '', secret = ''] = /\/email-undo#([0-9a-f]{32})\.([0-9a-f]{64})$/m.exec(text) ?? []
  return { id, secret }
}

export function undoChange(
  app: TestApp,
  { id, secret }: UndoLink,
  headers: Record<string, string> = {},
): Promise<TestAnswer> {
  return app.call('POST', `/email-changes/${id}/undo`, { body: { secret }, headers })
}

export async function storedEmail({ db }: TestApp, { id }: TestUser): Promise<string> {
  const row = db.selectFrom('users').select('email').where('id', '=', id)
  return (await row.executeTakeFirstOrThrow()).email
}

export async function isSignedIn(app: TestApp, { token }: TestUser): Promise<boolean> {
  return (await app.call('GET', '/users/current', { token })).status === 200
}
