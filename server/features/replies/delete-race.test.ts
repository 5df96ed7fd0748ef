import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { atOnce, signUps } from '../../testing/at-once.ts'
import { lockWaits } from '../../testing/databases.ts'
import { seedWall } from '../../testing/seed.ts'
import { appForFile } from '../../testing/test-app.ts'
import { findCounterDifferences } from '../posts/counters.task.ts'

const app = await appForFile()
const olga = await app.signUp()
const users = await signUps(app, 6)

test('replies to a post that is being deleted return 201 or 404, and every reply with 201 exists', async () => {
  const body = { text: 'Успею ли' }
  for (let round = 0; round < 8; round++) {
    const { id } = await app.publish(olga)
    const replies = [...users, ...users, ...users, ...users].map(
      ({ token }) =>
        () =>
          app.call('POST', `/posts/${id}/replies`, { token, body }),
    )
    const remove = () => app.call('DELETE', `/posts/${id}`, { token: olga.token })
    const answers = await atOnce(replies.toSpliced(round, 0, remove))
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1)
    const written = answers.filter(({ status }) => status === 201)
    const late = answers.filter(({ status }) => status === 404)
    expect(written.length + late.length).toBe(replies.length)
    for (const { body } of written) {
      const read = await app.call('GET', `/posts/${body.id}`)
      expect(read).toMatchObject({ status: 200, body: { actions: { replied_post: null } } })
    }
  }
  expect(await findCounterDifferences(app.db)).toEqual([])
})

test('a reply that somebody likes while it is being deleted is deleted', async () => {
  const post = await app.publish(olga)
  const reply = await app.reply(olga, post.id)
  // Among few posts PostgreSQL reads them otherwise.
  await seedWall(app.db, olga.id, 2000)
  await sql`ANALYZE posts`.execute(app.db)
  const deletion = await app.db.transaction().execute(async (tx) => {
    await tx
      .updateTable('posts')
      .set({ likes_count: sql`likes_count` })
      .where('id', '=', reply.id)
      .execute()
    const sent = app.call('DELETE', `/posts/${reply.id}`, { token: olga.token })
    await expect.poll(() => lockWaits(app)).toBeGreaterThan(0)
    return { sent }
  })
  expect((await deletion.sent).status).toBe(204)
})
