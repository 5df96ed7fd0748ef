import { beforeEach, expect, test } from 'vitest'
import type { ReceivedRepliesPage } from '../../../contract/answers.ts'
import type { Post } from '../../../contract/posts.ts'
import { areTransitionsDone, comeBack, leave } from '../../testing/calls/account-deletion-calls.ts'
import { decide, report, restore, signUpModerator } from '../../testing/calls/moderation-calls.ts'
import { atOnce } from '../../testing/http/at-once.ts'
import type { TestUser } from '../../testing/http/client.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { openNews } from '../../testing/http/news-reader.ts'
import { appForFile, strictApp } from '../../testing/test-app.ts'

const app = await appForFile()
let anna: TestUser
let petr: TestUser
let vera: TestUser
beforeEach(async () => {
  ;[anna, petr, vera] = await Promise.all([app.signUp(), app.signUp(), app.signUp()])
})

const at = ({ username }: { username: string }) => `@${username}`
const asMention = ({ id, username }: TestUser) => ({ id, username })
const received = (user: TestUser): Promise<ReceivedRepliesPage> =>
  app.read('/posts/replies/received?limit=50', user)
const see = ({ token }: TestUser, seen: number) =>
  app.call('PUT', '/users/current/received', { token, body: { seen } })
const edit = ({ token }: TestUser, id: string, text: string) =>
  app.call('PATCH', `/posts/${id}`, { token, body: { text } })
const rename = async (user: TestUser, username: string) => {
  const { status } = await app.call('PATCH', '/users/current/profile', {
    token: user.token,
    body: { username },
  })
  expect(status).toBe(200)
  return { ...user, username }
}

/** What a user has received, and its unread mark, which must be what the list shows after `seen`. */
async function mailOf(user: TestUser) {
  const { posts, seen, total } = await received(user)
  const { unread } = await app.read('/users/current/received', user)
  expect(posts.filter(({ received_no }) => received_no > seen)).toHaveLength(unread)
  expect(total).toBe(posts.length)
  return posts.map((post) => [post.id, post.is_mention ? 'mention' : 'reply'])
}

test('a name in a post or reply names its user in every list, whatever its case, and the user receives the post once', async () => {
  const post = await app.publish(petr, `Привет, ${at(anna).toUpperCase()} и ${at(anna)}!`)
  expect(post.mentions).toEqual([asMention(anna)])
  const reply = await app.reply(vera, post.id, `(${at(anna)}) согласна`)
  const [ofWall] = (await app.read('/posts', vera)).posts
  expect(ofWall.mentions).toEqual(post.mentions)
  expect(await app.read(`/posts/${reply.id}`, vera)).toMatchObject({
    mentions: [asMention(anna)],
    actions: { replied_post: { mentions: [asMention(anna)] } },
  })
  expect(reply.actions.replied_post?.mentions).toEqual([asMention(anna)])
  expect(await mailOf(anna)).toEqual([
    [reply.id, 'mention'],
    [post.id, 'mention'],
  ])
  expect(await mailOf(petr)).toEqual([[reply.id, 'reply']])
  await see(anna, 1)
  expect((await app.read('/users/current/received', anna)).unread).toBe(1)
  expect(post).not.toHaveProperty('actions.replied_post.mentions')
})

test.each([
  (name: string) => `почта olga@${name}`,
  (name: string) => `почта @${name}@example.org`,
  (name: string) => `https://t.me/@${name}`,
  (name: string) => `https://example.org/?to=(@${name})`,
  (name: string) => `www.example.org/,@${name}`,
  (name: string) => `t.me/@${name}`,
  (name: string) => `@${name}.example`,
  (name: string) => `@${name}x`,
  (name: string) => `@${name}у`,
  (name: string) => `@@${name}`,
  () => '@nobody_has_this',
])('no name: %s', async (textOf) => {
  const post = await app.publish(petr, textOf(anna.username))
  expect(post).not.toHaveProperty('mentions')
  expect(await mailOf(anna)).toEqual([])
})

test('who is answered and mentioned at once receives one reply; oneself, and who has muted the post, nothing', async () => {
  const post = await app.publish(anna)
  const reply = await app.reply(petr, post.id, `${at(anna)} и ${at(petr)}`)
  expect(reply.mentions).toHaveLength(2)
  expect(await mailOf(anna)).toEqual([[reply.id, 'reply']])
  expect(await mailOf(petr)).toEqual([])
  await app.call('PUT', `/posts/${post.id}/muted`, { token: anna.token })
  const muted = await app.reply(petr, post.id, at(anna))
  expect(muted.mentions).toEqual([asMention(anna)])
  expect(await mailOf(anna)).toEqual([[reply.id, 'reply']])
})

test('a mention means the same user after a rename, even if another user takes the name', async () => {
  const [former, next] = [anna.username, `next_${anna.id}`]
  const post = await app.publish(petr, at(anna))
  anna = await rename(anna, next)
  const named = [{ ...asMention(anna), name: former }]
  expect(await app.read(`/posts/${post.id}`, vera)).toMatchObject({
    text: `@${former}`,
    mentions: named,
  })
  await app.sql`UPDATE users SET username = ${former} WHERE id = ${vera.id}`
  const edited = await edit(petr, post.id, `@${former} и @${next}`)
  expect(edited.body.mentions).toEqual([asMention(anna), ...named])
  const other = await app.publish(petr, `@${former}`)
  expect(other.mentions).toEqual([{ id: vera.id, username: former }])
  expect(await mailOf(anna)).toEqual([[post.id, 'mention']])
  expect(await mailOf(vera)).toEqual([[other.id, 'mention']])
})

test('an edit adds and removes mentions; who was told once is not told again', async () => {
  const { events } = await openNews(app.url)
  const post = await app.publish(petr, `${at(anna)}`)
  const seen = (await received(anna)).posts[0]?.received_no ?? 0
  await see(anna, seen)
  const edited = await edit(petr, post.id, `Нет, ${at(vera)}`)
  expect(edited.body.mentions).toEqual([asMention(vera)])
  expect(await mailOf(anna)).toEqual([])
  expect(await mailOf(vera)).toEqual([[post.id, 'mention']])
  await edit(petr, post.id, `Нет, ${at(anna)} и ${at(vera)}`)
  expect(await mailOf(anna)).toEqual([[post.id, 'mention']])
  expect((await received(anna)).posts[0]?.received_no).toBe(seen)
  expect((await edit(petr, post.id, 'Никто')).body).not.toHaveProperty('mentions')
  expect([await mailOf(anna), await mailOf(vera)]).toEqual([[], []])
  const told = () => events().flatMap(({ data }) => data.to ?? [])
  await expect.poll(told).toEqual(expect.arrayContaining([anna.id, vera.id]))
})

test('of the people whom a post names, five are told, however often it is edited', async () => {
  const people = [anna, vera, ...(await app.signUps(5))] as TestUser[]
  const countTold = async () => {
    const all = await Promise.all(people.map(received))
    return all.map(({ posts }) => posts.length)
  }
  const post = await app.publish(petr, people.slice(0, 4).map(at).join(' '))
  expect(await countTold()).toEqual([1, 1, 1, 1, 0, 0, 0])
  const edited = await edit(petr, post.id, people.slice(2).map(at).join(' '))
  expect(edited.body.mentions).toHaveLength(5)
  expect(await countTold()).toEqual([0, 0, 1, 1, 1, 0, 0])
  const all = await app.publish(petr, people.map(at).join(' '))
  expect(all.mentions).toHaveLength(7)
  expect(await countTold()).toEqual([1, 1, 2, 2, 2, 0, 0])
})

test('a mention is gone while its post or author is, or its author is muted, and returns with them', async () => {
  const moderator = await signUpModerator(app)
  const post = await app.publish(petr, at(anna))
  const gone = await app.publish(petr, at(anna))
  await app.call('DELETE', `/posts/${gone.id}`, { token: petr.token })
  const whole = [[post.id, 'mention']]
  expect(await mailOf(anna)).toEqual(whole)

  await report(app, vera, { postId: post.id })
  await decide(app, moderator, { postId: post.id, verdict: 'remove' })
  expect(await mailOf(anna)).toEqual([])
  await restore(app, post.id)
  expect(await mailOf(anna)).toEqual(whole)

  const mute = (method: 'PUT' | 'DELETE') =>
    app.call(method, `/users/${petr.id}/mute`, { token: anna.token })
  await mute('PUT')
  expect(await mailOf(anna)).toEqual([])
  await mute('DELETE')
  expect(await mailOf(anna)).toEqual(whole)

  await leave(app, petr)
  expect(await mailOf(anna)).toEqual([])
  await comeBack(app, petr.email, true)
  await expect.poll(() => areTransitionsDone(app)).toBe(true)
  expect(await mailOf(anna)).toEqual(whole)
})

test('who has left is named by nothing; who returns is named again', async () => {
  const before = await app.publish(petr, at(anna))
  await leave(app, anna)
  await expect.poll(() => areTransitionsDone(app)).toBe(true)
  expect(await app.read(`/posts/${before.id}`, vera)).not.toHaveProperty('mentions')
  expect(await app.publish(petr, at(anna))).not.toHaveProperty('mentions')
  const { body } = await comeBack(app, anna.email, true)
  await expect.poll(() => areTransitionsDone(app)).toBe(true)
  const names = async () => (await app.read(`/posts/${before.id}`, vera)).mentions
  await expect.poll(names).toEqual([asMention(anna)])
  expect(await mailOf({ ...anna, token: body.accessToken.token })).toEqual([[before.id, 'mention']])
})

test('people who mention and answer each other at once all publish, with numbers that are taken once', async () => {
  const people = [anna, petr, vera]
  const posts: Post[] = []
  for (const person of people) posts.push(await app.publish(person))
  const acts = Array.from({ length: 45 }, (_, n) => async () => {
    const [author, ...others] = [0, 1, 2].map((step) => people[(n + step) % 3] as TestUser)
    const text = `${n} ${others.map(at).join(' ')}`
    if (n % 3 === 0) await app.publish(author as TestUser, text)
    else await app.reply(author as TestUser, posts[(n + (n % 2) + 1) % 3]?.id ?? '', text)
  })
  await atOnce(acts)
  for (const person of people) {
    const numbers = (await received(person)).posts.map(({ received_no }) => received_no)
    expect(numbers).toEqual(numbers.map((_, n) => numbers.length - n))
    await mailOf(person)
  }
})

test('the people whom a newcomer names count for their first day as posts do, also if an edit adds them', async () => {
  const strict = await strictApp({ rateLimitScale: 10 })
  const newcomer = await strict.signUp()
  const spent = async () => {
    const [row] = await strict.sql<{ posts: number }>`
      SELECT round(extract(epoch FROM arrival - charged_at) / 8640)::int AS posts FROM rate_limits
      WHERE key LIKE 'newcomer-day/%'`
    return row?.posts
  }
  const post = await strict.publish(newcomer, '@first_one @second_one')
  expect(await spent()).toBe(3)
  const change = (text: string) =>
    strict.call('PATCH', `/posts/${post.id}`, { token: newcomer.token, body: { text } })
  expect((await change('@second_one @third_one')).status).toBe(200)
  expect(await spent()).toBe(4)
  const seven = Array.from({ length: 7 }, (_, n) => `@number_${n}`).join(' ')
  await strict.publish(newcomer, seven)
  expect(await spent()).toBe(10)
  await strict.sql`UPDATE rate_limits SET arrival = arrival + interval '39 days'
    WHERE key LIKE 'newcomer-day/%'`
  const refused = await change(seven)
  expectRefusal(refused, 'TOO_MANY_REQUESTS')
  expect(refused.body.message).toMatch(
    /^В первые сутки записей и упоминаний может быть не так много/,
  )
  expect((await strict.read(`/posts/${post.id}`)).text).toBe('@second_one @third_one')
})

const suggest = async (user: TestUser, query: string): Promise<string[]> =>
  (await app.read(`/users/suggestions?${query}`, user)).users.map(
    ({ username }: TestUser) => username,
  )

test('names are suggested by their first letters: people of the thread first, then others who have published, by name', async () => {
  const start = `q${anna.id}_`
  const names = ['ccc', 'bbb', 'aaa', 'lurker', 'left_'].map((end) => start + end)
  const people: TestUser[] = []
  for (const name of names) people.push(await rename(await app.signUp(), name))
  const [first, second, third, lurker, left] = people as [
    TestUser,
    TestUser,
    TestUser,
    TestUser,
    TestUser,
  ]
  const root = await app.publish(first)
  const reply = await app.reply(second, root.id)
  for (const person of [third, left]) await app.publish(person)
  await leave(app, left)
  const byName = [third, second, first].map(({ username }) => username)
  expect(await suggest(vera, `start=${start.toUpperCase()}`)).toEqual(byName)
  expect(await suggest(vera, `start=${start}&postId=999999`)).toEqual(byName)
  expect(await suggest(vera, `start=${start}&postId=${reply.id}`)).toEqual([
    ...[second, first, third].map(({ username }) => username),
  ])
  expect(await suggest(second, `start=${start}`)).toEqual([third.username, first.username])
  await app.reply(lurker, reply.id)
  expect(await suggest(vera, `start=${start}l`)).toEqual([lurker.username])
  await app.call('PUT', `/users/${first.id}/mute`, { token: vera.token })
  expect(await suggest(vera, `start=${start}c&postId=${reply.id}`)).toEqual([])
  for (const wrong of ['a', 'a%25', 'аб', `${'a'.repeat(33)}`]) {
    const answer = await app.call('GET', `/users/suggestions?start=${wrong}`, { token: vera.token })
    expectRefusal(answer, 'INVALID_REQUEST')
  }
})

test('somebody who asks for names without end is refused', async () => {
  const strict = await strictApp()
  const { token } = await strict.signUp()
  const asks = Array.from({ length: 31 }, () =>
    strict.call('GET', '/users/suggestions?start=ab', { token }),
  )
  const statuses = (await Promise.all(asks)).map(({ status }) => status)
  expect(statuses.filter((status) => status !== 200)).toEqual([429])
})
