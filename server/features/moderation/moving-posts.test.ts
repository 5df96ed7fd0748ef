import { expect, test } from 'vitest'
import {
  decide,
  report,
  restore,
  signUpModerator,
  signUpOld,
} from '../../testing/moderation-calls.ts'
import { appForTest } from '../../testing/test-app.ts'
import { findCounterDifferences } from '../posts/counters.task.ts'

/** The number of attempts, since the transactions have to meet within a few milliseconds. */
const ROUNDS = Number(process.env.MOVE_ROUNDS ?? 6)

test('a post comes back while its reply is reported by several people and removed: nobody is refused for a deadlock', async () => {
  const app = await appForTest()
  const moderator = await signUpModerator(app)
  const [author, ...reporters] = await signUpOld(app, 5)
  if (!author) throw new Error('nobody signed up')
  for (let round = 0; round < ROUNDS; round++) {
    const post = await app.publish(author, `Запись ${round}`)
    const path = `/posts/${post.id}/replies`
    const body = { text: 'Ответ' }
    const reply = (await app.call('POST', path, { token: author.token, body })).body
    await app.db.updateTable('reports').set({ state: 'removed', decided_at: new Date() }).execute()
    await report(app, moderator, { postId: post.id })
    await decide(app, moderator, { postId: post.id, verdict: 'remove' })
    const [, ...answers] = await Promise.all([
      restore(app, post.id),
      ...reporters.map((reporter) => report(app, reporter, { postId: reply.id })),
      app.call('DELETE', `/posts/${reply.id}`, { token: author.token }),
    ])
    expect(answers.map(({ status }) => status).filter((status) => status >= 500)).toEqual([])
  }
  expect(await findCounterDifferences(app.db)).toEqual([])
}, 120_000)
