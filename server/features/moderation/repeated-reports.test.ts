import { expect, test } from 'vitest'
import type { TestUser } from '../../testing/client.ts'
import { decide, report, restore, signUpModerator } from '../../testing/moderation-calls.ts'
import { appForFile } from '../../testing/test-app.ts'

const app = await appForFile()
const moderator = await signUpModerator(app)
const reporter = await app.signUp()

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
      await restore(app, postId)
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
