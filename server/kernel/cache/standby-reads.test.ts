import { type RawBuilder, sql } from 'kysely'
import { expect, onTestFinished } from 'vitest'
import { databaseForTest } from '../../testing/database-for-test.ts'
import { appForTest, testPerNode } from '../../testing/test-app.ts'
import { openDatabase } from '../db/database.ts'

const testHere = testPerNode('responses that each node caches for itself')

/** A node whose standby is a database that gets the same statements, and differs in likes: 99. */
async function nodeWithStandby() {
  const standbyUrl = await databaseForTest()
  const standby = openDatabase(standbyUrl, () => {})
  onTestFinished(standby.close)
  const app = await appForTest({ config: { databaseReplicaUrl: standbyUrl } })
  const replay = (change: RawBuilder<unknown>) => change.execute(standby.db)
  const change = async (sent: RawBuilder<unknown>) => {
    await sent.execute(app.db)
    await replay(sent)
  }
  await change(
    sql`INSERT INTO users (username, email, email_key) VALUES ('olga', 'o@x.ru', 'o@x.ru')`,
  )
  await change(sql`INSERT INTO posts (owner_id, text) VALUES (1, 'Сначала')`)
  await replay(sql`UPDATE posts SET likes_count = 99`)
  let cursor = 1000
  /** Reads a list that no cached response shows. */
  async function read(token?: string) {
    const { body } = await app.call('GET', `/posts?cursor=${++cursor}`, { token })
    const [{ text, actions }] = body.posts
    return [text, actions.likes_count === 99 ? 'from the standby' : 'from the primary']
  }
  return { app, replay, read }
}

testHere(
  'visitors read from a standby while it shows what the node has shown, and else from the primary',
  async () => {
    const { app, replay, read } = await nodeWithStandby()
    const { token } = await app.signUp()
    const edit = sql`UPDATE posts SET text = 'Потом' WHERE id = 1`
    // The node does not know yet what its own database shows.
    expect(await read()).toEqual(['Сначала', 'from the primary'])
    expect(await read()).toEqual(['Сначала', 'from the standby'])
    expect(await read(token)).toEqual(['Сначала', 'from the primary'])

    await edit.execute(app.db)
    expect(await read(token)).toEqual(['Потом', 'from the primary'])
    const since = performance.now()
    while (performance.now() - since < 2500) {
      expect(await read()).toEqual(['Потом', 'from the primary'])
    }
    await replay(edit)
    await expect.poll(() => read(), { timeout: 5000 }).toEqual(['Потом', 'from the standby'])
  },
)

testHere('a post that a standby lacks or still has is looked for in the primary', async () => {
  const { app, replay, read } = await nodeWithStandby()
  const statusOf = async (path: string) => (await app.call('GET', path)).status
  await read()
  expect(await statusOf('/posts/2')).toBe(404)
  const added = sql`INSERT INTO posts (owner_id, text) VALUES (1, 'Новое')`
  await added.execute(app.db)
  await app.call('GET', '/posts?userId=1', { token: (await app.signUp()).token })
  expect(await statusOf('/posts/2')).toBe(200)
  await replay(added)
  await sql`DELETE FROM posts WHERE id = 2`.execute(app.db)
  await app.call('GET', '/posts?userId=1', { token: (await app.signUp()).token })
  expect(await statusOf('/posts/2')).toBe(404)
})
