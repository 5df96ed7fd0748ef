import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import type { FoundPage } from '../../../contract/search.ts'
import { leave } from '../../testing/account-deletion-calls.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { WEB_FILES } from '../../testing/fake-web-app.ts'
import { stopClock } from '../../testing/passing-time.ts'
import { appForFile, appForTest, testPerNode } from '../../testing/test-app.ts'

// A busy machine takes seconds to insert thousands of posts.
const app = await appForFile({ poolLimits: { connections: 20, statementTimeoutMs: 60_000 } })
const anna = await app.signUp()

const search = (q: string, rest = '', { token }: { token?: string | undefined } = {}) =>
  app.call('GET', `/posts/search?q=${encodeURIComponent(q)}${rest}`, { token })
const found = async (q: string, rest = ''): Promise<FoundPage> => (await search(q, rest)).body
const texts = async (q: string, rest = '') => (await found(q, rest)).posts.map(({ text }) => text)

test('posts and replies are found newest first, page by page, with the forms of the words they have', async () => {
  const post = await app.publish(anna, 'Тыква на столе')
  await app.call('POST', `/posts/${post.id}/likes`, { token: anna.token })
  const reply = await app.reply(anna, post.id, 'Тыкву съели')
  const again = await app.publish(anna, 'О ТЫКВАХ: больше — никогда')
  const first = await found('тыква', '&limit=2')
  expect(first.posts.map(({ id }) => id)).toEqual([again.id, reply.id])
  expect(first.posts[1]?.actions.replied_post?.text).toBe('Тыква на столе')
  expect(first.words.toSorted()).toEqual(['тыквах', 'тыкву'])
  await app.publish(anna, 'Новая тыква')
  const second = await found('тыква', `&limit=2&cursor=${first.nextCursor}`)
  expect(second.posts.map(({ id }) => id)).toEqual([post.id])
  expect(second).toMatchObject({ nextCursor: null, words: ['тыква'] })
  for (const token of [anna.token, undefined]) {
    const { posts }: FoundPage = (await search('стол', '', { token })).body
    expect(posts[0]?.actions).toMatchObject({ is_liked: token !== undefined, likes_count: 1 })
  }
})

test('a search has all its words, a phrase in quotes has them side by side, and «-» leaves posts out', async () => {
  await app.publish(anna, 'Рыжий кот спит')
  await app.publish(anna, 'Кот и рыжий пёс')
  await app.publish(anna, 'Рыжая кошка, а кота нет')
  expect(await texts('кот рыжий')).toHaveLength(3)
  expect(await texts('"рыжий кот"')).toEqual(['Рыжий кот спит'])
  expect(await texts('«рыжие коты»')).toEqual(['Рыжий кот спит'])
  expect(await texts('рыжий -пёс -кошка')).toEqual(['Рыжий кот спит'])
  expect(await texts('рыжий -"рыжий кот" -кошка')).toEqual(['Кот и рыжий пёс'])
})

test('the last word may be a beginning of five letters or more, other words may not', async () => {
  await app.publish(anna, 'Электричка опаздывает')
  expect(await texts('опаздывает электр')).toEqual(['Электричка опаздывает'])
  expect(await texts('электр опаздывает')).toEqual([])
  expect(await texts('элек')).toEqual([])
  expect(await texts('"опаздывает электр"')).toEqual([])
  expect(await texts('опаздывает -электр')).toEqual(['Электричка опаздывает'])
  await app.publish(anna, 'Читатель')
  expect(await texts('читаю')).not.toContain('Читатель')
  await app.publish(anna, 'Котёл, который кипит')
  expect(await texts('кот')).not.toContain('Котёл, который кипит')
})

test('words that begin like the last one follow if the forms of the words find less than a page', async () => {
  const words = ['Аквариум', 'Аквариумист']
  for (const word of words)
    for (const n of ['раз', 'два', 'три']) await app.publish(anna, `${word} ${n}`)
  await app.publish(anna, 'Аквариум без хозяина')
  expect((await found('аквариум', '&limit=4')).similar).toEqual([])
  const q = '-хозяин аквариум'
  const first = await found(q, '&limit=4')
  const forms = ['Аквариум три', 'Аквариум два', 'Аквариум раз']
  expect(first.posts.map(({ text }) => text)).toEqual([...forms, 'Аквариумист три'])
  expect(first.similar).toEqual([first.posts[3]?.id])
  expect(first.words.toSorted()).toEqual(['аквариум', 'аквариумист'])
  const second = await found(q, `&limit=1&cursor=${first.nextCursor}`)
  const third = await found(q, `&limit=4&cursor=${second.nextCursor}`)
  const rest = [...second.posts, ...third.posts]
  expect(rest.map(({ text }) => text)).toEqual(['Аквариумист два', 'Аквариумист раз'])
  expect([...second.similar, ...third.similar]).toEqual(rest.map(({ id }) => id))
  expect(third.nextCursor).toBeNull()
})

test('«ё» and «е», quotes, dashes, stresses, hyphens and neighbours without a space make no difference', async () => {
  const text = '«Ёжик» —по-дурацки/за́мер,замёрз…Клубок😀🧶 нитка'
  await app.publish(anna, text)
  for (const q of ['ежик', 'ЁЖИК', 'замер', 'по-дурацки', 'дурацки', 'замерз', 'клубок', 'нитка']) {
    expect(await texts(q), q).toEqual([text])
  }
})

test('an edited post is found by its new text at once, and a post that nobody may see is never found', async () => {
  const post = await app.publish(anna, 'Первобытный мамонт')
  expect(await texts('мамонт')).toHaveLength(1)
  const edit = { token: anna.token, body: { text: 'Шерстистый носорог' } }
  await app.call('PATCH', `/posts/${post.id}`, edit)
  expect([await texts('мамонт'), await texts('носорог')]).toEqual([[], ['Шерстистый носорог']])
  for (const reason of ['removed', 'reported', 'deleted', 'left', null]) {
    const until = reason && sql`now()`
    await sql`UPDATE posts SET hidden_for = ${reason}, hidden_until = ${until} WHERE id = ${post.id}`.execute(
      app.db,
    )
    expect(await texts('носорог'), `hidden for ${reason}`).toHaveLength(reason ? 0 : 1)
  }
  await app.call('DELETE', `/posts/${post.id}`, { token: anna.token })
  expect(await texts('носорог')).toEqual([])
  const olga = await app.signUp()
  await app.publish(olga, 'Птеродактиль')
  expect((await leave(app, olga)).status).toBe(200)
  expect(await texts('птеродактиль')).toEqual([])
})

test('a word that is in every post, or in none, is found alike among thousands', async () => {
  const { rows } = await sql<{ id: string }>`INSERT INTO posts (owner_id, text)
    SELECT ${anna.id}, 'Общее слово' || CASE WHEN n = 1 THEN ' и единорог' WHEN n % 5000 = 0 THEN ' и кентавр' ELSE '' END
    FROM generate_series(1, 20000) n RETURNING id`.execute(app.db)
  const ids = rows.map(({ id }) => id).toReversed()
  const idsOf = async (q: string, rest = '') => (await found(q, rest)).posts.map(({ id }) => id)
  expect(await idsOf('общее')).toEqual(ids.slice(0, 10))
  expect(await idsOf('общее', `&cursor=${ids[15_000]}`)).toEqual(ids.slice(15_001, 15_011))
  expect(await idsOf('общее кентавр')).toEqual([ids[0], ids[5000], ids[10_000], ids[15_000]])
  expect(await idsOf('единорог')).toEqual([ids[19_999]])
  expect(await idsOf('общее грифон')).toEqual([])
})

test('a search that takes longer than 300 ms is QUERY_TOO_BROAD', async () => {
  const times: number[] = []
  await app.db.transaction().execute(async (tx) => {
    // Every search waits for the end of this transaction.
    await sql`LOCK TABLE mutes`.execute(tx)
    for (let time = 0; time < 4; time++) {
      const began = performance.now()
      const answer = await search('"вечер утро"')
      times.push(performance.now() - began)
      expectRefusal(answer, 'QUERY_TOO_BROAD')
      expect(answer.body.message).toBe('Слишком общий запрос: добавьте слово')
    }
  })
  // Each may meet a moment in which the machine stands still.
  expect(Math.min(...times)).toBeGreaterThan(290)
  expect(Math.min(...times)).toBeLessThan(1000)
})

test('a search that finds nothing is an empty page, and one without a word to look for asks for a word', async () => {
  const nothing = { posts: [], nextCursor: null, words: [], similar: [] }
  expect(await found('кракозябра')).toEqual(nothing)
  for (const q of ['и не был', 'и', '…', '-кот', '" "', '-']) {
    const answer = await search(q)
    expectRefusal(answer, 'INVALID_REQUEST')
    expect(answer.body.message, q).toMatch(/^Добавьте слово/)
  }
})

test('a search has 100 characters at most, on one line, and a cursor of its own', async () => {
  expect((await search(`${'кот '.repeat(24)}коты`)).status).toBe(200)
  for (const q of ['я'.repeat(101), '', 'кот\nкит', 'кот\u0000', '"'.repeat(100)]) {
    expectRefusal(await search(q), 'INVALID_REQUEST')
  }
  for (const rest of ['&cursor=first', '&cursor=similar-', '&cursor=similar-x', '&page=2']) {
    expectRefusal(await search('кот', rest), 'INVALID_REQUEST')
  }
})

test('signs that PostgreSQL’s queries are made of are only separators', async () => {
  await app.publish(anna, 'Скобка и амперсанд')
  const written = ['(скобка) & амперсанд!', 'скобка:* | амперсанд', "'скобка' <-> \\амперсанд"]
  for (const q of [...written, '#скобка']) {
    expect(await texts(q), q).toEqual(['Скобка и амперсанд'])
  }
  expect(await texts('#1')).toEqual([])
})

test('the page of a search is made anew for each visit, for nobody else and no search engine', async () => {
  const site = await appForTest({ webFiles: WEB_FILES })
  const user = await site.signUp()
  const read = async (path: string) => {
    const answer = await fetch(site.url + path, { redirect: 'manual' })
    return { status: answer.status, headers: answer.headers, html: await answer.text() }
  }
  const path = '/search?q=%D1%82%D1%8B%D0%BA%D0%B2%D0%B0+%26'
  const first = await read(path)
  expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'private, no-cache'])
  expect(first.html).toContain('<title>Поиск: тыква &#38; - Вслух</title>')
  expect(first.html).toContain('<meta name="robots" content="noindex">')
  await site.publish(user, 'Тыква')
  const second = await read(path)
  expect([first.html, second.html].map((html) => html.includes('"words":["тыква"]'))).toEqual([
    false,
    true,
  ])
  const refused = await read('/search?q=%D0%B8')
  expect([refused.status, refused.html.includes('"refusal":"Добавьте слово')]).toEqual([200, true])
  expect((await read('/search')).html).toContain('<title>Поиск - Вслух</title>')
  expect((await read('/Search/?q=')).headers.get('location')).toBe('/search')
})

testPerNode('limits counted in memory, by each node for itself')(
  'a network’s visitors search forty times at once, by calls and pages, a user ten times, and then once a second',
  async () => {
    stopClock()
    const config = { rateLimitScale: 1, trustProxy: ['127.0.0.1'] }
    const strict = await appForTest({ config, webFiles: WEB_FILES })
    const user = await strict.signUp()
    const headers = { 'x-forwarded-for': '203.0.113.9' }
    const query = 'search?q=%D0%BA%D0%BE%D1%82'
    const page = () => fetch(`${strict.url}/${query}`, { headers })
    const call = (token?: string) => strict.call('GET', `/posts/${query}`, { headers, token })
    const ownCall = () => call(user.token)
    for (let time = 0; time < 20; time++) {
      expect([(await call()).status, (await page()).status]).toEqual([200, 200])
    }
    for (let time = 0; time < 10; time++) expect((await ownCall()).status).toBe(200)
    for (const search of [page, call, ownCall]) {
      const { status, headers } = await search()
      expect([status, headers.get('retry-after')]).toEqual([429, '1'])
    }
    expect((await call()).body.message).toMatch(/^Из вашей сети/)
    expect((await ownCall()).body.message).toMatch(/^Вы ищете/)
    vi.advanceTimersByTime(1000)
    for (const search of [page, ownCall]) expect((await search()).status).toBe(200)
    const other = { 'x-forwarded-for': '203.0.113.10' }
    expect((await strict.call('GET', `/posts/${query}`, { headers: other })).status).toBe(200)
  },
)

test('the log does not contain the words of a search', async () => {
  const secret = 'тайнопись'
  await search(secret)
  await search(`и не ${'о'.repeat(99)}${secret}`)
  await fetch(`${app.url}/search?q=${encodeURIComponent(secret)}`)
  await fetch(`${app.url}/search?q=${encodeURIComponent(secret)}&cursor=no`)
  const log = app.logged.join('\n')
  expect(log).toContain('/posts/search')
  for (const form of [secret, encodeURIComponent(secret), 'тайнопис'])
    expect(log).not.toContain(form)
})
