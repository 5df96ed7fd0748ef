import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import type { TestUser } from '../../testing/client.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { signUpEarlier } from '../../testing/passing-time.ts'
import { appForFile, appForTest } from '../../testing/test-app.ts'

const app = await appForFile()
let olga: TestUser
/** Whose session each node has just seen, so that the statement that publishes checks it. */
beforeEach(async () => {
  olga = await signUpEarlier(app)
  // Where there are two nodes, they answer in turn.
  for (let node = 0; node < 2; node++) {
    await app.call('GET', '/users/current', { token: olga.token })
  }
})

const write = (key: string, text = 'Снова я', to = app) =>
  to.call('POST', '/posts', {
    token: olga.token,
    body: { text },
    headers: { 'idempotency-key': key },
  })
const total = async () => (await app.call('GET', `/posts?userId=${olga.id}`)).body.total

test('a session that another node has closed publishes nothing more, and its retries get nothing', async () => {
  expect((await write('before')).status).toBe(201)
  const other = await appForTest({ databaseUrl: app.databaseUrl })
  await other.call('DELETE', '/sessions/current', { token: olga.token })
  for (const key of ['before', 'after']) expectRefusal(await write(key), 'UNAUTHORIZED')
  // Also where the text would be refused, and where there is none.
  for (const text of ['', 5 as unknown as string]) {
    expectRefusal(await write('invalid', text), 'UNAUTHORIZED')
  }
  expect(await total()).toBe(1)
})

test('a user who was blocked meanwhile, or writes while writing is closed, reads why; neither costs a publication', async () => {
  const strict = await appForTest({ databaseUrl: app.databaseUrl, config: { rateLimitScale: 1 } })
  await strict.call('GET', '/users/current', { token: olga.token })
  const refusedBetween = async (code: 'BLOCKED' | 'WRITING_CLOSED', reason: string) => {
    for (let n = 0; n < 6; n++) {
      const answer = await write(`${code}-${n}`, 'Ещё', strict)
      expectRefusal(answer, code)
      expect(answer.body.message).toContain(reason)
    }
  }
  await sql`INSERT INTO blocks (user_id, reason, blocked_by) VALUES (${olga.id}, 'Спам', 'test')`.execute(
    app.db,
  )
  await refusedBetween('BLOCKED', 'Спам')
  await sql`DELETE FROM blocks WHERE user_id = ${olga.id}`.execute(app.db)
  await sql`UPDATE site_state SET writing_closed = 'Ремонт'`.execute(app.db)
  await refusedBetween('WRITING_CLOSED', 'Ремонт')
  await sql`UPDATE site_state SET writing_closed = NULL`.execute(app.db)
  for (let n = 0; n < 5; n++) expect((await write(`free-${n}`, 'Ещё', strict)).status).toBe(201)
})
