import { afterAll, expect, test } from 'vitest'
import type { Post } from '../contract/posts.ts'
import { parsePostText } from '../contract/text.ts'
import { findCounterDifferences } from '../server/features/posts/counters.task.ts'
import { openDatabase } from '../server/kernel/db/database.ts'
import { createClient } from '../server/testing/http/client.ts'
import { freePort } from '../server/testing/process/free-port.ts'
import { startDemo } from './start-demo.ts'
import { PEOPLE, VIEWER, WALL_POSTS } from './wall-post.ts'

const demo = await startDemo({ port: String(await freePort()), say() {} })
afterAll(() => demo.stop())
const { call } = createClient(demo.url, { check() {}, codeFor: () => '' })

test('eight people wrote the posts, each of which could be published, and answer what is older', () => {
  expect(new Set(WALL_POSTS.map(({ by }) => by))).toEqual(new Set(PEOPLE))
  expect(WALL_POSTS.length).toBeGreaterThanOrEqual(40)
  for (const { text, ago, replied } of WALL_POSTS) {
    // As the product would store it.
    expect(parsePostText(text)).toBe(text)
    if (replied) expect(ago, text).toBeLessThan(replied.ago)
  }
})

test('the wall shows them by their age, with threads, likes and an edited post, and every counter is right', async () => {
  const newestFirst = WALL_POSTS.filter(({ replied }) => !replied).toReversed()
  const { body } = await call('GET', '/posts?limit=50')
  expect(body.posts.map(({ text }: Post) => text)).toEqual(newestFirst.map(({ text }) => text))
  const now = Date.now() / 1000
  for (const [index, post] of (body.posts as Post[]).entries()) {
    const expected = newestFirst[index]
    const { ago = 0, likes, isEdited } = expected ?? {}
    const minutes = (now - post.created_at) / 60
    expect(minutes).toBeGreaterThan(ago)
    expect(minutes).toBeLessThan(ago + 2)
    const replies = WALL_POSTS.filter(({ replied }) => replied === expected).length
    expect(post.actions).toMatchObject({ likes_count: likes, replies_count: replies })
    expect(post.is_modified).toBe(isEdited)
  }
  const { db, close } = openDatabase(demo.databaseUrl, () => {})
  expect(await findCounterDifferences(db).finally(close)).toEqual([])
})

test('only the link signs in as a person with posts, likes, other devices, and a new reply that is not answered yet; each visit opens a new session', async () => {
  const { token, cookie } = await followLink()
  const { body: user } = await call('GET', '/users/current', { token })
  expect(user.username).toBe(VIEWER)
  for (const list of [`/posts?userId=${user.id}`, '/posts?filter=liked', '/posts/replies']) {
    expect((await call('GET', list, { token })).body.total, list).toBeGreaterThan(2)
  }
  expect((await call('GET', '/sessions', { token })).body.sessions).toHaveLength(3)
  expect((await call('GET', '/users/current/received', { token })).body.unread).toBe(1)
  const { body: received } = await call('GET', '/posts/replies/received', { token })
  expect(received.posts[0].actions.replies_count).toBe(0)
  expect(received.posts[0].received_no).toBeGreaterThan(received.seen)
  expect((await followLink()).cookie).not.toBe(cookie)
  expect((await fetch(`${demo.signInUrl}x`)).status).toBe(404)
})

/** Follows the link as a browser does: keeps the cookie and the client token, and gets a token. */
async function followLink() {
  const page = await fetch(demo.signInUrl)
  const cookie = page.headers.getSetCookie()[0]?.split(';', 1)[0] ?? ''
  const [, clientToken] = /'client-token', '([^']+)'/.exec(await page.text()) ?? []
  const refreshed = await call('PATCH', '/sessions/current', {
    body: { clientToken },
    headers: { cookie },
  })
  return { token: refreshed.body.accessToken.token, cookie }
}
