import { addJob } from '../../kernel/queue/queue.ts'
import type { TestAnswer, TestUser } from '../http/client.ts'
import type { TestApp } from '../test-app.ts'
import { startAt, verifyAt } from './sign-in-calls.ts'

/** Returns the answer to the mailed code, or the refusal to mail one. */
export async function leave(
  app: Pick<TestApp, 'call' | 'codeFor'>,
  { token, clientToken }: TestUser,
): Promise<TestAnswer> {
  const start = await app.call('POST', '/users/current/deletion', { token, body: { clientToken } })
  if (start.status !== 201) return start
  const body = { confirmCode: app.codeFor(start.body.id), clientToken }
  return app.call('POST', `/users/current/deletion/${start.body.id}/verify`, { token, body })
}

/** Signs in by mail, with `restore` if the account was deleted. Returns the last answer. */
export async function comeBack(app: TestApp, email: string, restore?: true): Promise<TestAnswer> {
  const start = await startAt(app, '/logins', { email })
  if (start.status !== 201) return start
  return verifyAt(app, '/logins', { id: start.body.id, restore })
}

/** Whether all posts and likes of those who left are hidden, and of those who returned shown. */
export async function areTransitionsDone({ db, sql }: TestApp): Promise<boolean> {
  await addJob(db, 'move-accounts')
  const [row] = await sql<{ left: number }>`
    SELECT ((SELECT count(*) FROM visible_posts p JOIN users u ON u.id = p.owner_id WHERE u.deleted_at IS NOT NULL)
      + (SELECT count(*) FROM likes l JOIN users u ON u.id = l.user_id WHERE u.deleted_at IS NOT NULL AND NOT user_left)
      + (SELECT count(*) FROM users WHERE is_returning))::int AS left`
  return row?.left === 0
}

export function like(app: TestApp, { token }: TestUser, id: string): Promise<TestAnswer> {
  return app.call('POST', `/posts/${id}/likes`, { token })
}
