import { expect, test } from 'vitest'
import { comeBack, isSettled, leave } from '../../testing/account-deletion-calls.ts'
import { decide, readQueue, report, signUpModerator } from '../../testing/moderation-calls.ts'
import { appForTest } from '../../testing/test-app.ts'
import { findCounterDifferences } from '../posts/counters.task.ts'

test.each([
  ['was removed stays away', 'remove', 404],
  ['was kept is back', 'keep', 200],
] as const)(
  'a reported post whose author has left can be decided about; one that %s when the author returns',
  async (_which, verdict, expected) => {
    const app = await appForTest()
    const moderator = await signUpModerator(app)
    const [author, reader] = [await app.signUp(), await app.signUp()]
    const post = await app.publish(author, 'Купите гараж')
    const other = await app.publish(author, 'Обычная запись')
    await report(app, reader, { postId: post.id })
    await leave(app, author)
    await expect.poll(() => isSettled(app)).toBe(true)

    expect(await readQueue(app, moderator)).toMatchObject([{ id: post.id, state: 'deleted' }])
    expect((await decide(app, moderator, { postId: post.id, verdict })).status).toBe(204)
    expect(await readQueue(app, moderator)).toEqual([])

    await comeBack(app, author.email, true)
    await expect.poll(() => isSettled(app)).toBe(true)
    const read = async (id: string) =>
      (await app.call('GET', `/posts/${id}`, { token: reader.token })).status
    await expect.poll(() => read(other.id)).toBe(200)
    expect(await read(post.id)).toBe(expected)
    expect(await findCounterDifferences(app.db)).toEqual([])
  },
)
