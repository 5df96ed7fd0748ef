import { expect, test } from 'vitest'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { appForFile } from '../../testing/test-app.ts'

const app = await appForFile()
const olga = await app.signUp()

const send = (body: unknown) => app.call('POST', '/posts', { token: olga.token, body })

const HOSTILE = `<script>alert(1)</script> '; DROP TABLE posts; -- \\ " \\u0000`

/** [what is sent, text, what is stored]; contract/text.test.ts has all the rules. */
test.each([
  ['that is normalised', ' и\u0306 а\u202eб\u202c\n', 'й аб'],
  ['of 500 emoji', '😀'.repeat(500), '😀'.repeat(500)],
  ['of markup and of what SQL or JSON would choke on', HOSTILE, HOSTILE],
])('a post with a text %s is published', async (_what, text, stored) => {
  const { status, body } = await send({ text })
  expect(status).toBe(201)
  expect(body.text).toBe(stored)
  expect((await app.call('GET', `/posts/${body.id}`)).body.text).toBe(stored)
})

/** [what is sent, the text in JSON] */
test.each([
  ['nothing', '""'],
  ['501 emoji', `"${'😀'.repeat(501)}"`],
  ['NUL', '"а\\u0000б"'],
  ['a lone surrogate', '"а\\ud83dб"'],
])('a post, a reply or an edit with %s is INVALID_REQUEST and changes nothing', async (_, json) => {
  const petr = await app.signUp()
  const { token } = petr
  const post = await app.publish(petr)
  const body = `{"text":${json}}`
  for (const [method, path] of [
    ['POST', '/posts'],
    ['POST', `/posts/${post.id}/replies`],
    ['PATCH', `/posts/${post.id}`],
  ] as const) {
    expectRefusal(await app.call(method, path, { token, body }), 'INVALID_REQUEST')
  }
  expect((await app.call('GET', `/posts?userId=${petr.id}`)).body.posts).toEqual([post])
})

test.each([
  ['a stray byte', [0xff]],
  ['an overlong slash', [0xc0, 0xaf]],
  ['an encoded surrogate', [0xed, 0xa0, 0x80]],
])('a body with %s, which is not UTF-8, is INVALID_REQUEST', async (_what, bytes) => {
  const body = Buffer.concat([Buffer.from('{"text":"а'), Buffer.from(bytes), Buffer.from('"}')])
  const response = await fetch(`${app.url}/api/v1/posts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${olga.token}` },
    body,
  })
  expectRefusal({ status: response.status, body: await response.json() }, 'INVALID_REQUEST')
})
