import { sql } from 'kysely'
import { addJob } from '../queue/queue.ts'
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

/** The browser in which people come back. */
export const ONE_BROWSER = 'one browser'

/** Signs in by mail, with `restore` if the account was deleted. Returns the answer to the code, or the refusal to mail one. */
export async function comeBack(app: TestApp, email: string, restore?: true): Promise<TestAnswer> {
  const start = await startAt(app, '/logins', { email })
  if (start.status !== 201) return start
  const { id } = start.body
  const body = { confirmCode: app.codeFor(id), clientToken: ONE_BROWSER }
  return app.call('POST', `/logins/${id}/verify`, {
    body: { ...body, ...(restore && { restore }) },
  })
}

/** Whether the job has moved all rows of those who left into the archive, and of those who return back. Starts it again. */
export async function isSettled({ db }: TestApp): Promise<boolean> {
  await addJob(db, 'move-accounts', { payload: {} })
  const { rows } = await sql<{ left: number }>`
    SELECT ((SELECT count(*) FROM posts p JOIN users u ON u.id = p.owner_id WHERE u.deleted_at IS NOT NULL)
      + (SELECT count(*) FROM likes l JOIN users u ON u.id = l.user_id WHERE u.deleted_at IS NOT NULL)
      + (SELECT count(*) FROM users WHERE is_returning)
      + (SELECT count(*) FROM removed_posts))::int AS left`.execute(db)
  return rows[0]?.left === 0
}
