import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { deriveKey } from '../../kernel/config/app-secret.ts'
import type { TestUser } from '../../testing/client.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { appForFile, SECRET } from '../../testing/test-app.ts'
import { eraseNow } from '../account-deletion/account-deletion.service.ts'
import { blockUser, unblockUser } from './blocks.service.ts'

const app = await appForFile()
const nameKey = deriveKey(SECRET, 'usernames')

const block = (userId: string, days: number | null) =>
  app.db.transaction().execute((tx) => blockUser(tx, { userId, reason: 'Спам', days, by: 'masha' }))
const unblock = (userId: string) =>
  app.db.transaction().execute((tx) => unblockUser(tx, { userId, by: 'masha', nameKey }))
const publish = ({ token }: TestUser) =>
  app.call('POST', '/posts', { token, body: { text: 'Я вернулся' } })
const erase = (userId: string) =>
  eraseNow(app.db, { userId, nameKey, actor: 'masha', publishChange: async () => {} })

test('a block covers the mailbox: its other accounts and those registered later under another spelling, until it is lifted', async () => {
  const [user, twin, other] = [
    await app.signIn('liar+1@example.org'),
    await app.signIn('liar@example.org'),
    await app.signIn('liar.x+1@example.org'),
  ]
  await block(user.id, 7)
  expectRefusal(await publish(twin), 'UNAUTHORIZED')
  const newcomer = await app.signIn('LIAR+2@example.org')
  for (const again of [newcomer, await app.signIn(twin.email)]) {
    expect((await publish(again)).body.message).toContain('Причина: Спам.')
  }
  expect((await publish(other)).status).toBe(201)
  await unblock(user.id)
  expect((await publish(newcomer)).status).toBe(201)
  expect((await publish(await app.signIn('liar+3@example.org'))).status).toBe(201)
})

test('a block outlives the account while it is in force, and leaves no e-mail behind', async () => {
  const eraseBlocked = async (email: string, days: number | null) => {
    const { id: userId } = await app.signIn(email)
    await block(userId, days)
    await erase(userId)
    return app.signIn(email)
  }
  const back = await eraseBlocked('eraser@gmail.com', null)
  expectRefusal(await publish(back), 'BLOCKED')
  expectRefusal(await publish(await app.signIn('era.ser+1@googlemail.com')), 'BLOCKED')
  const freed = await eraseBlocked('other@example.org', 1)
  expectRefusal(await publish(freed), 'BLOCKED')
  for (const table of ['blocks', 'blocked_mailboxes'] as const)
    await app.db
      .updateTable(table)
      .set({ until: sql<Date>`now()` })
      .where('until', 'is not', null)
      .execute()
  expect((await publish(await app.signIn('other+1@example.org'))).status).toBe(201)
})

test('an erasure that is interrupted keeps the mailbox blocked', async () => {
  const { id: userId, email } = await app.signIn('spread@example.org')
  await block(userId, null)
  await sql`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN RAISE 'not yet'; END $$`.execute(app.db)
  await sql`CREATE TRIGGER refused BEFORE DELETE ON users EXECUTE FUNCTION refuse()`.execute(app.db)
  await expect(erase(userId)).rejects.toThrow('not yet')
  await sql`DROP TRIGGER refused ON users`.execute(app.db)
  await erase(userId)
  expectRefusal(await publish(await app.signIn(email)), 'BLOCKED')
})

test('a block that comes while the account is erased blocks the mailbox', async () => {
  const olga = await app.signIn('during@example.org')
  await app.publish(olga)
  // When the posts are erased, by this call or by the job.
  await sql`CREATE FUNCTION block_author() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO blocks (user_id, reason, blocked_by) VALUES (OLD.owner_id, 'Спам', 'masha');
    RETURN OLD; END $$`.execute(app.db)
  await sql`CREATE TRIGGER blocked BEFORE DELETE ON posts
    FOR EACH ROW EXECUTE FUNCTION block_author()`.execute(app.db)
  await erase(olga.id)
  await sql`DROP TRIGGER blocked ON posts`.execute(app.db)
  expectRefusal(await publish(await app.signIn(olga.email)), 'BLOCKED')
})
