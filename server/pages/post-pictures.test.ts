import fc from 'fast-check'
import { PNG } from 'pngjs'
import { afterAll, expect, test, vi } from 'vitest'
import { hostileText } from '../testing/calls/hostile-text.ts'
import { appForFile } from '../testing/test-app.ts'
import { createPainter } from './post-pictures.ts'

const ORIGIN = 'https://vslukh.example'
/** Where the text is, below and above the margins; the author and the wall stand beneath. */
const TEXT = { left: 72, right: 1128, top: 56, bottom: 476 }

// A picture takes most of a second of a processor, and a busy machine may be four times as slow.
vi.setConfig({ testTimeout: 300_000 })

// There the file also takes longer than an access token lives by default.
const config = { publicUrl: ORIGIN, accessTokenSeconds: 3600, trustProxy: ['127.0.0.1'] }
const app = await appForFile({ config })
const painter = createPainter()
afterAll(painter.stop)
const olga = await app.signUp()

const get = (path: string, init: RequestInit = {}) => fetch(app.url + path, init)

/** Returns the meta tags of a page whose names begin with `og:image`, and the picture's path. */
async function previewOf(id: string) {
  const html = await (await get(`/posts/${id}`)).text()
  const tags = html.matchAll(/<meta property="(og:image[^"]*)" content="([^"]*)">/g)
  const meta = Object.fromEntries([...tags].map(([, name, content]) => [name, content]))
  return { meta, path: String(meta['og:image']).replace(ORIGIN, '').replaceAll('&#38;', '&') }
}

async function pictureOf(text: string): Promise<PNG> {
  const { id } = await app.publish(olga, text)
  return readPicture(await get((await previewOf(id)).path))
}

async function readPicture(answer: Response): Promise<PNG> {
  expect(answer.status).toBe(200)
  return PNG.sync.read(Buffer.from(await answer.arrayBuffer()))
}

/** Returns how many pixels of each line between `top` and `bottom` belong to white letters. */
function inkOf({ width, data }: PNG, { left, right, top, bottom } = TEXT): number[] {
  return Array.from({ length: bottom - top }, (_, line) => {
    const from = (top + line) * width
    let ink = 0
    for (let x = left; x < right; x++) if ((data[(from + x) * 4 + 2] ?? 0) > 200) ink++
    return ink
  })
}

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0)
/** Counts the lines of text by the lines of pixels between them that are empty. */
const linesOf = (ink: number[]) => ink.filter((n, at) => n > 0 && !ink[at - 1]).length

async function paint(text: string, username = 'olga'): Promise<PNG> {
  const painting = { username, appName: 'Вслух', mark: 'M0 0h24v24H0z' }
  const tile = { tone: 1, pale: '', tinted: '', full: '' }
  return PNG.sync.read(Buffer.from(await painter.ask({ text, tile, ...painting })))
}

/** Paints one character alone; returns where there is ink. */
const glyph = async (character: string) => inkOf(await paint(character)).join()

test('the page of a post names its picture, a PNG of 1200 × 630 with an ETag, or that of the wall if the fonts lack its letters', async () => {
  const { id } = await app.publish(olga, 'Слово «написано» — и <b>осталось</b> & живёт ]]>')
  const { meta, path } = await previewOf(id)
  expect(meta).toMatchObject({ 'og:image:width': '1200', 'og:image:height': '630' })
  expect(meta['og:image:alt']).toMatch(new RegExp(`^${olga.username}: Слово «написано»`))
  const answer = await get(path)
  expect(answer.headers.get('content-type')).toBe('image/png')
  expect(answer.headers.get('cache-control')).toContain('public, max-age=0')
  const etag = answer.headers.get('etag') ?? ''
  expect(path).toContain(etag.replaceAll('"', ''))
  expect(await readPicture(answer)).toMatchObject({ width: 1200, height: 630 })
  expect((await get(path, { headers: { 'if-none-match': etag } })).status).toBe(304)

  const foreign = await app.publish(olga, '你好，世界')
  expect((await previewOf(foreign.id)).meta['og:image']).toBe(`${ORIGIN}/preview.png`)
  expect((await get(`/posts/${foreign.id}/picture.png`)).status).toBe(404)
})

test('a word is drawn large, and 500 characters to the last one, within the margins, beside the longest name', async () => {
  const word = inkOf(await pictureOf('Привет'))
  expect(linesOf(word)).toBe(1)
  expect(word.filter((ink) => ink > 0).length).toBeGreaterThan(80)
  const sentence = 'Стены слышат всё, что им говорят, и помнят. '
  const png = await pictureOf(sentence.repeat(12).slice(0, 499).concat('.'))
  const without = await pictureOf(sentence.repeat(12).slice(0, 499))
  expect(linesOf(inkOf(png))).toBeGreaterThanOrEqual(8)
  expect(sum(inkOf(png))).toBeGreaterThan(sum(inkOf(without)))
  expect(sum(inkOf(png, { ...TEXT, left: 0, right: 70 }))).toBe(0)
  expect(sum(inkOf(png, { ...TEXT, left: 1130, right: 1200 }))).toBe(0)
  const [longest, usual] = [await paint('Привет', 'W'.repeat(32)), await paint('Привет')]
  for (const beside of [{ right: 144 }, { left: 900, right: 1200 }]) {
    const where = { ...TEXT, top: 510, bottom: 582, ...beside }
    expect(inkOf(longest, where)).toEqual(inkOf(usual, where))
  }
  expect(inkOf(await paint('раз\n\n\n \n\nдва'))).toEqual(inkOf(await paint('раз\n\nдва')))
  expect(linesOf(inkOf(await pictureOf('раз\n\nдва\n'.repeat(40))))).toBeGreaterThanOrEqual(6)
})

test('no letter of a language, symbol or emoji that has a picture is drawn as the box of a missing glyph', async () => {
  const missing = await glyph('你')
  expect(await glyph('界')).toBe(missing)
  const drawn = ['Ж', 'ў', 'ñ', 'ש', 'م', 'Ω', 'ფ', '₽', '☭', '😀', '👍🏽', '🇷🇺']
  for (const character of drawn) expect(await glyph(character), character).not.toBe(missing)
})

test('no text is markup, or keeps a picture from being painted', async () => {
  await fc.assert(
    fc.asyncProperty(hostileText, async (text) => {
      expect(await paint(text)).toMatchObject({ width: 1200, height: 630 })
    }),
    { numRuns: 10 },
  )
  expect(inkOf(await paint(' '))).not.toEqual(inkOf(await paint('<script></script>')))
})

test('a text that begins from right to left stands on the right', async () => {
  const inkIn = async (text: string, half: Partial<typeof TEXT>) =>
    sum(inkOf(await pictureOf(text), { ...TEXT, ...half }))
  for (const text of ['שלום', 'مرحبا']) expect(await inkIn(text, { right: 600 }), text).toBe(0)
  expect(await inkIn('Мир', { left: 600 })).toBe(0)
})

test('the picture of a deleted post is gone at once, and that of an edited post is another one', async () => {
  const { id } = await app.publish(olga, 'Было так')
  const { path } = await previewOf(id)
  const before = await readPicture(await get(path))
  await app.call('PATCH', `/posts/${id}`, { token: olga.token, body: { text: 'Стало иначе' } })
  const edited = await previewOf(id)
  expect(edited.path).not.toBe(path)
  const after = await readPicture(await get(edited.path))
  expect(inkOf(after)).not.toEqual(inkOf(before))
  // Whoever has the address from before gets what the post says now.
  expect(inkOf(await readPicture(await get(path)))).toEqual(inkOf(after))
  await app.call('DELETE', `/posts/${id}`, { token: olga.token })
  for (const address of [path, edited.path]) expect((await get(address)).status).toBe(404)
  expect((await previewOf(id)).meta).toEqual({})
  expect((await get('/posts/abc/picture.png')).status).toBe(404)
})

test('few requests for pictures wait, fewer of one network; further ones are refused, pages and pictures of other networks are served meanwhile; all who ask for one picture get it', async () => {
  const asked = Array.from({ length: 41 }, (_, n) => app.publish(olga, `Запись номер ${n}`))
  const [other, ...posts] = await Promise.all(asked)
  const storm = posts.map(({ id }) => get(`/posts/${id}/picture.png`))
  expect((await get(`/posts/${posts[0]?.id}`)).status).toBe(200)
  await Promise.any(storm.map(async (answer) => expect((await answer).status).toBe(503)))
  const headers = { 'x-forwarded-for': '192.0.2.1' }
  expect((await get(`/posts/${other?.id}/picture.png`, { headers })).status).toBe(200)
  const answers = await Promise.all(storm)
  const refused = answers.filter(({ status }) => status === 503)
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(40 - refused.length)
  for (const { headers } of refused) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)

  const { id } = await app.publish(olga, 'Запись, которую показали всем')
  const one = Array.from({ length: 20 }, () => get(`/posts/${id}/picture.png`))
  for (const answer of one) expect((await answer).status).toBe(200)
})
