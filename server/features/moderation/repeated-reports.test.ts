import { beforeAll, expect, test } from 'vitest'
import type { TestUser } from '../../testing/client.ts'
import { decide, readQueue, report, signUpModerator, undo } from '../../testing/moderation-calls.ts'
import { appForFile } from '../../testing/test-app.ts'
import { decide as decideAsOperator } from './decisions.service.ts'

const app = await appForFile()
let moderator: TestUser
let reporter: TestUser
beforeAll(async () => {
  moderator = await signUpModerator(app)
  reporter = await app.signUp()
})

const edit = ({ token }: TestUser, id: string, text: string) =>
  app.call('PATCH', `/posts/${id}`, { token, body: { text } })
/** The states of a post's reports, oldest first. */
const statesOf = async (postId: string) => {
  const rows = await app.db
    .selectFrom('reports')
    .select('state')
    .where('post_id', '=', postId)
    .orderBy('id')
    .execute()
  return rows.map(({ state }) => state)
}

async function removed(author: TestUser): Promise<string> {
  const { id: postId } = await app.publish(author, 'Это законно')
  await report(app, reporter, { postId })
  await decide(app, moderator, { postId, verdict: 'remove' })
  return postId
}

test.each(['a granted appeal', 'the operator'])(
  'a text that was restored by %s is not reported again, and another text is',
  async (by) => {
    const author = await app.signUp()
    const postId = await removed(author)
    if (by === 'the operator') {
      const decision = { postId, verdict: 'keep', actor: 'masha', isAsked: false, removedDays: 30 }
      await app.db
        .transaction()
        .execute((tx) => decideAsOperator(tx, { ...decision, verdict: 'keep' }))
    } else {
      const path = `/users/current/removed-posts/${postId}/appeal`
      await app.call('POST', path, { token: author.token, body: { text: 'Верните' } })
      await decide(app, moderator, { postId, verdict: 'keep' })
    }
    const again = await app.signUp()
    expect((await report(app, again, { postId })).status).toBe(204)
    expect(await statesOf(postId)).toEqual(['removed'])
    await edit(author, postId, 'А это уже нет')
    await report(app, again, { postId })
    expect(await statesOf(postId)).toEqual(['removed', 'open'])
    await decide(app, moderator, { postId, verdict: 'remove' })
  },
)

test('a text that was kept can be reported again once that decision is undone', async () => {
  const author = await app.signUp()
  const { id: postId } = await app.publish(author, 'Спорное')
  await report(app, reporter, { postId })
  const { body } = await decide(app, moderator, { postId, verdict: 'keep' })
  await report(app, await app.signUp(), { postId })
  expect(await statesOf(postId)).toEqual(['kept'])
  await undo(app, moderator, body.id)
  await report(app, await app.signUp(), { postId })
  expect(await statesOf(postId)).toEqual(['open', 'open'])
  await decide(app, moderator, { postId, verdict: 'remove' })
})

test('a decision is undone also where the reporter has reported the changed text meanwhile', async () => {
  const author = await app.signUp()
  const { id: postId } = await app.publish(author, 'Сначала так')
  await report(app, reporter, { postId })
  const { body } = await decide(app, moderator, { postId, verdict: 'keep' })
  await edit(author, postId, 'Потом иначе')
  await report(app, reporter, { postId })
  expect(await statesOf(postId)).toEqual(['kept', 'open'])
  expect((await undo(app, moderator, body.id)).status).toBe(204)
  expect(await readQueue(app, moderator)).toMatchObject([{ id: postId, reporters: 1 }])
  expect(await statesOf(postId)).toEqual(['open'])
})
