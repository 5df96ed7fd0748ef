import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestUser } from '../testing/client.ts'
import { expectRefusal } from '../testing/expect-refusal.ts'
import { startTestApp, type TestApp } from '../testing/test-app.ts'

let app: TestApp
let olga: TestUser
beforeAll(async () => {
  app = await startTestApp()
  olga = await app.signUp()
})
afterAll(() => app.close())

const send = (body: unknown) => app.call('POST', '/posts', { token: olga.token, body })

const FAMILY = '👨‍👩‍👧‍👦'

/** [what is sent, text, what is stored] */
const KEPT: [string, string, string][] = [
  ['spaces and line feeds around it', ' \n\u00a0\ufeffДа\u3000\n', 'Да'],
  ['line feeds within it', 'раз\n\nдва', 'раз\n\nдва'],
  ['a zero width space among letters', 'а\u200bб', 'а\u200bб'],
  ['the joiners of a family emoji', FAMILY, FAMILY],
  ['bidirectional overrides', 'а\u202eб\u202cв\u2066г\u2069', 'абвг'],
  ['an override that hides the ends', '\u202e  тихо  \u202c', 'тихо'],
  ['right-to-left words', 'שלום мир', 'שלום мир'],
  ['decomposed letters', 'йё'.normalize('NFD'), 'йё'],
  ['nine marks on a letter', `ы${'\u0317'.repeat(9)}!`, `ы${'\u0317'.repeat(8)}!`],
  ['zalgo', `з${'\u0489'.repeat(300)}а`, `з${'\u0489'.repeat(8)}а`],
  [
    'marks that hide behind joiners',
    `з${'\u0301\u200d'.repeat(300)}а`,
    `з${'\u0301\u200d'.repeat(8)}а`,
  ],
  ['markup', '<script>alert(1)</script>', '<script>alert(1)</script>'],
  ['a javascript: address', 'javascript:alert(1)', 'javascript:alert(1)'],
  ['what SQL would choke on', "'; DROP TABLE posts; --", "'; DROP TABLE posts; --"],
  ['a backslash and a quote', '\\ " \\u0000', '\\ " \\u0000'],
  ['500 letters', 'я'.repeat(500), 'я'.repeat(500)],
  ['500 emoji', '😀'.repeat(500), '😀'.repeat(500)],
  ['500 letters that were 1,000 code points', 'й'.normalize('NFD').repeat(500), 'й'.repeat(500)],
  ['500 letters and spaces around them', ` ${'я'.repeat(500)} `, 'я'.repeat(500)],
]

test.each(KEPT)('a post with %s is published as the rules say', async (_what, text, kept) => {
  const { status, body } = await send({ text })
  expect(status).toBe(201)
  expect(body.text).toBe(kept)
  expect((await app.call('GET', `/posts/${body.id}`)).body.text).toBe(kept)
})

/** [what is sent, text] */
const REFUSED: [string, string][] = [
  ['nothing', ''],
  ['spaces only', ' \n\u00a0\u3000 '],
  ['zero width characters only', '\u200b\u200c\u200d\u2060\ufeff'],
  ['bidirectional overrides only', '\u202e\u2066\u2069\u202c'],
  ['invisible fillers only', '\u3164\u115f\u00ad\u2800\u180e\ufe0f'],
  ['marks without a letter only', '\u0301\u00a0\u0489'],
  ['symbols that are blank by design only', '\u{1d159}\u{13441}\u{16fe4}\ufffc'],
  ['NUL', 'а\u0000б'],
  ['a carriage return', 'а\r\nб'],
  ['a tab', 'а\tб'],
  ['an escape character', 'а\u001b[31mб'],
  ['a C1 control character', 'а\u0085б'],
  ['501 letters', 'я'.repeat(501)],
  ['501 emoji', '😀'.repeat(501)],
]

test.each(REFUSED)('a post with %s is INVALID_REQUEST', async (_what, text) => {
  expectRefusal(await send({ text }), 'INVALID_REQUEST')
})

test.each([
  ['a high', '"\\ud83d"'],
  ['a low', '"а\\ude00б"'],
  ['a swapped pair of', '"\\ude00\\ud83d"'],
])('a post with %s lone surrogate is INVALID_REQUEST', async (_what, json) => {
  expectRefusal(await send(`{"text":${json}}`), 'INVALID_REQUEST')
})

test.each([
  ['a stray byte', [0xff]],
  ['a cut sequence', [0xd0]],
  ['an overlong slash', [0xc0, 0xaf]],
  ['an encoded surrogate', [0xed, 0xa0, 0x80]],
  ['a code point past the last', [0xf4, 0x90, 0x80, 0x80]],
])('a body with %s, which is not UTF-8, is INVALID_REQUEST', async (_what, bytes) => {
  const body = Buffer.concat([Buffer.from('{"text":"а'), Buffer.from(bytes), Buffer.from('"}')])
  const response = await fetch(`${app.url}/api/v1/posts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${olga.token}` },
    body,
  })
  expectRefusal({ status: response.status, body: await response.json() }, 'INVALID_REQUEST')
})

test('what was refused was not published', async () => {
  const petr = await app.signUp()
  const { token } = petr
  for (const [, text] of REFUSED) await app.call('POST', '/posts', { token, body: { text } })
  expect((await app.call('GET', `/posts?userId=${petr.id}`)).body.total).toBe(0)
})
