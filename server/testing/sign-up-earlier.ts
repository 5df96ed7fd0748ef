import { sql } from 'kysely'
import type { TestUser } from './client.ts'
import type { TestApp } from './test-app.ts'

/** Signs up a new user whose account counts as an old one: the limits of accounts under a day old do not apply. */
export async function signUpEarlier(app: TestApp): Promise<TestUser> {
  const user = await app.signUp()
  await sql`UPDATE users SET created_at = now() - interval '1 year' WHERE id = ${user.id}`.execute(
    app.db,
  )
  return user
}
