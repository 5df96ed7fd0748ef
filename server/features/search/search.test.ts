import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { OTHER_WORDS, SAME_WORDS } from '../../../contract/same-words.fixture.ts'
import type { SearchPage } from '../../../contract/search.ts'
import { foldWords, parsePostText } from '../../../contract/text.ts'
import { MIGRATIONS, migrate } from '../../kernel/db/migrate.ts'
import { leave, like } from '../../testing/calls/account-deletion-calls.ts'
import { emptyDatabase } from '../../testing/database/backups.ts'
import { executeOn, withClient } from '../../testing/database/databases.ts'
import { stopClock } from '../../testing/database/passing-time.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { appForFile, appForTest, strictApp, testPerNode } from '../../testing/test-app.ts'

const app = await appForFile()
const anna = await app.signUp()

const search = (q: string, rest = '', token?: string) =>
  app.call('GET', `/posts/search?q=${encodeURIComponent(q)}${rest}`, { token })
const found = async (q: string, rest = '', token?: string): Promise<SearchPage> =>
  (await search(q, rest, token)).body
const texts = async (q: string, rest = '') => (await found(q, rest)).posts.map(({ text }) => text)

test('posts and replies are found newest first, page by page, with the forms of the words they have', async () => {
  const post = await app.publish(anna, 'Тыква на столе')
  await like(app, anna, post.id)
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
    const { posts } = await found('стол', '', token)
    expect(posts[0]?.actions).toMatchObject({ is_liked: token !== undefined, likes_count: 1 })
  }
  const nothing = { posts: [], nextCursor: null, words: [], similar: [] }
  expect(await found('кракозябра')).toEqual(nothing)
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
})

test('words that begin like the last one follow if the forms of the words find less than a page', async () => {
  for (const word of ['Аквариум', 'Аквариумист'])
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

test.each([
  [
    '«ё» and «е», quotes, dashes, stresses, hyphens and neighbours without a space',
    '«Ёжик» —по-дурацки/за́мер,замёрз…Клубок😀🧶 нитка',
    ['ежик', 'ЁЖИК', 'замер', 'по-дурацки', 'дурацки', 'замерз', 'клубок', 'нитка'],
  ],
  [
    'signs that PostgreSQL’s queries are made of',
    'Скобка и амперсанд',
    ['(скобка) & амперсанд!', 'скобка:* | амперсанд', "'скобка' <-> \\амперсанд", '#скобка'],
  ],
])('%s make no difference', async (_what, text, queries) => {
  await app.publish(anna, text)
  for (const q of queries) expect(await texts(q), q).toEqual([text])
  expect(await texts('#1')).toEqual([])
})

test.each([
  ['Turkish', 'İstanbul'],
  ['Greek', 'ΟΔΟΣ'],
  ['Thai', 'ฉันชอบชา'],
  ['Hindi', 'हिन्दी'],
  ['lowered digits', 'H₂O'],
  ['Chinese', '我喜欢喝茶'],
])('a word in %s finds the post with it, alone, in quotes and beside others', async (_, word) => {
  const post = await app.publish(anna, `Словечко ${word} тут`)
  for (const q of [word, `"словечко ${word}"`, `${word} словечко -иного`]) {
    expect((await found(q)).posts.map(({ id }) => id)).toEqual([post.id])
  }
})

test('search and hidden words take the same words for equal', async () => {
  const pairs = [...SAME_WORDS, ...OTHER_WORDS]
  for (const [word, written] of pairs) {
    const [text, other] = [parsePostText(written) ?? '', word]
    const [row] = await app.sql<{ isSame: boolean }>`
      SELECT search_text(${text}) = search_text(${other}) AS "isSame"`
    const isSame = SAME_WORDS.some(([, same]) => same === written)
    expect(row?.isSame, written).toBe(isSame)
    const onlyWords = (it: string) => foldWords(it).replace(/[^\p{L}\p{N}]+/gu, ' ')
    expect(onlyWords(text) === onlyWords(other), written).toBe(isSame)
  }
  const post = await app.publish(anna, 'Про ло\u2060ша\u0301дку и ло\u00adша\u200bк')
  for (const q of ['лошадка', 'ло\u200bшадка', '"лошадку и лошак"']) {
    expect(
      (await found(q)).posts.map(({ id }) => id),
      q,
    ).toEqual([post.id])
  }
})

test('an upgrade finds what was written before, also with invisible characters inside', async () => {
  const url = await emptyDatabase()
  const before = Object.entries(MIGRATIONS).filter(([name]) => name < '013')
  await migrate(url, { migrations: Object.fromEntries(before) })
  await executeOn(
    url,
    `INSERT INTO users (username, email, email_key) VALUES ('anna_1', 'a@example.org', 'a@example.org');
     INSERT INTO posts (owner_id, text) SELECT id, unnest(ARRAY[U&'сло\\200Bво', 'слово', U&'сердце \\2764\\FE0F'])
     FROM users`,
  )
  await migrate(url)
  const texts = await withClient(url, async (client) => {
    // Only the index can have the words that the release before put there.
    await client.query('SET enable_seqscan = off')
    const { rows } = await client.query<{ text: string }>(`SELECT text FROM posts
      WHERE hidden_for IS NULL AND search_words(id, text) @@ 'слов' ORDER BY text`)
    return rows.map(({ text }) => text)
  })
  expect(texts.toSorted()).toEqual(['сло\u200bво', 'слово'].toSorted())
})

test('an edited post is found by its new text at once, and a post that nobody may see is never found', async () => {
  const post = await app.publish(anna, 'Первобытный мамонт')
  expect(await texts('мамонт')).toHaveLength(1)
  const edit = { token: anna.token, body: { text: 'Шерстистый носорог' } }
  await app.call('PATCH', `/posts/${post.id}`, edit)
  expect([await texts('мамонт'), await texts('носорог')]).toEqual([[], ['Шерстистый носорог']])
  for (const reason of ['removed', 'reported', 'deleted', 'left', null]) {
    const until = reason && sql`now()`
    await app.sql`UPDATE posts SET hidden_for = ${reason}, hidden_until = ${until} WHERE id = ${post.id}`
    expect(await texts('носорог'), `hidden for ${reason}`).toHaveLength(reason ? 0 : 1)
  }
  const olga = await app.signUp()
  await app.publish(olga, 'Птеродактиль')
  expect((await leave(app, olga)).status).toBe(200)
  expect(await texts('птеродактиль')).toEqual([])
})

test('a word that is in every post, or in none, is found alike among thousands', async () => {
  const rows = await app.sql<{ id: string }>`INSERT INTO posts (owner_id, text)
    SELECT ${anna.id}, 'Общее слово' || CASE WHEN n = 1 THEN ' и единорог' WHEN n % 5000 = 0 THEN ' и кентавр' ELSE '' END
    FROM generate_series(1, 20000) n RETURNING id`
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
  expect(Math.min(...times)).toBeLessThan(2000)
})

test.each([
  '"рука глаз рука" or "глаз рука глаз"',
  '"рука глаз" -"нога ухо"',
  'рука -"глаз нога"',
  '"рука глаз рука" ухо',
])(
  '%j parses at most a thousand posts, and is QUERY_TOO_BROAD if these fill no page',
  async (q) => {
    const own = await appForTest()
    const olga = await own.signUp()
    await own.sql`CREATE SEQUENCE parsed`
    // Counts the posts that are parsed.
    await own.sql`CREATE OR REPLACE FUNCTION search_words(id bigint, text text) RETURNS tsvector
    LANGUAGE plpgsql IMMUTABLE STRICT AS $$ BEGIN
      PERFORM nextval('parsed');
      RETURN to_tsvector('pg_catalog.russian', search_text($2))
        || array_to_tsvector(ARRAY['#' || ($1 >> 13)]);
    END $$`
    await own.sql`INSERT INTO posts (owner_id, text)
    SELECT ${olga.id}, 'Рука, а глаз нога ухо ' || n FROM generate_series(1, 6000) n`
    const [{ parsed: before = 0 } = {}] = await own.sql<{ parsed: number }>`
    SELECT nextval('parsed')::int AS parsed`
    expectRefusal(
      await own.call('GET', `/posts/search?q=${encodeURIComponent(q)}`),
      'QUERY_TOO_BROAD',
    )
    const [{ parsed = 0 } = {}] = await own.sql<{ parsed: number }>`
    SELECT nextval('parsed')::int AS parsed`
    expect(parsed - before).toBeGreaterThan(100)
    expect(parsed - before).toBeLessThanOrEqual(1100)
  },
)

test('a search whose similar words take too long finds the words themselves, and is QUERY_TOO_BROAD without any', async () => {
  const own = await appForTest()
  const olga = await own.signUp()
  await own.publish(olga, 'Прилётная медлительная птица')
  await own.publish(olga, 'Прилёт в шесть')
  // Only the posts that a query may find are parsed, and one of them takes a minute.
  await own.sql`CREATE OR REPLACE FUNCTION search_words(id bigint, text text) RETURNS tsvector
    LANGUAGE plpgsql IMMUTABLE STRICT AS $$ BEGIN
      IF $2 LIKE '%медлительная%' THEN PERFORM pg_sleep(60); END IF;
      RETURN to_tsvector('pg_catalog.russian', search_text($2))
        || array_to_tsvector(ARRAY['#' || ($1 >> 13)]);
    END $$`
  const searchOwn = (q: string, rest = '') =>
    own.call('GET', `/posts/search?q=${encodeURIComponent(q)}${rest}`)
  const { status, body } = await searchOwn('прилёт')
  expect(status).toBe(200)
  expect(body.posts.map(({ text }: { text: string }) => text)).toEqual(['Прилёт в шесть'])
  expect(body).toMatchObject({ words: ['прилет'], similar: [], nextCursor: null })
  expect((await fetch(`${own.url}/search?q=${encodeURIComponent('прилёт')}`)).status).toBe(200)
  expectRefusal(await searchOwn('прилётн'), 'QUERY_TOO_BROAD')
  expectRefusal(await searchOwn('прилёт', '&cursor=similar-9'), 'QUERY_TOO_BROAD')
})

test('a search has a word to look for and 100 characters at most, on one line, and a cursor of its own', async () => {
  for (const q of ['и не был', 'и', '…', '-кот', '" "', '-']) {
    const answer = await search(q)
    expectRefusal(answer, 'INVALID_REQUEST')
    expect(answer.body.message, q).toMatch(/^Добавьте слово/)
  }
  expect((await search(`${'кот '.repeat(24)}коты`)).status).toBe(200)
  for (const q of ['я'.repeat(101), '', 'кот\nкит', 'кот\u0000', '"'.repeat(100)]) {
    expectRefusal(await search(q), 'INVALID_REQUEST')
  }
  for (const rest of ['&cursor=first', '&cursor=similar-', '&cursor=similar-x', '&page=2']) {
    expectRefusal(await search('кот', rest), 'INVALID_REQUEST')
  }
})

test('a search in what the viewer wrote or liked finds no other posts, and needs a viewer', async () => {
  const vera = await app.signUp()
  const post = await app.publish(vera, 'Чайник закипел')
  const others = await app.publish(anna, 'Чайник остыл')
  const reply = await app.reply(vera, others.id, 'Поставлю чайник')
  const liked = await app.publish(anna, 'Чайник свистит')
  await like(app, vera, liked.id)
  await like(app, vera, reply.id)
  const find = async (scope: string, viewer = vera, rest = '') => {
    const q = encodeURIComponent('чайники')
    return app.read(`/posts/search?q=${q}&scope=${scope}${rest}`, viewer)
  }
  const idsOf = ({ posts }: SearchPage) => posts.map(({ id }) => id)
  expect(idsOf(await find('own'))).toEqual([reply.id, post.id])
  expect(idsOf(await find('liked'))).toEqual([liked.id, reply.id])
  const first = await find('own', vera, '&limit=1')
  expect([idsOf(first), first.nextCursor]).toEqual([[reply.id], reply.id])
  expect(idsOf(await find('own', vera, `&limit=1&cursor=${first.nextCursor}`))).toEqual([post.id])
  expect(idsOf(await find('liked', anna))).toEqual([])
  await app.call('DELETE', `/posts/${reply.id}`, { token: vera.token })
  expect([idsOf(await find('own')), idsOf(await find('liked'))]).toEqual([[post.id], [liked.id]])
  for (const scope of ['own', 'liked']) {
    expectRefusal(await search('чайник', `&scope=${scope}`), 'UNAUTHORIZED')
  }
  expectRefusal(await search('чайник', '&scope=theirs'), 'INVALID_REQUEST')
})

test('the page of a search is made anew for each visit, for nobody else and no search engine', async () => {
  const site = await appForTest({ databaseUrl: app.databaseUrl })
  const read = async (path: string) => {
    const answer = await fetch(site.url + path, { redirect: 'manual' })
    return { status: answer.status, headers: answer.headers, html: await answer.text() }
  }
  const path = `/search?q=${encodeURIComponent('кабачок')}+%26`
  const first = await read(path)
  expect([first.status, first.headers.get('cache-control')]).toEqual([
    200,
    'private, no-cache, no-transform',
  ])
  expect(first.html).toContain('<title>Поиск: кабачок &#38; - Вслух</title>')
  expect(first.html).toContain('<meta name="robots" content="noindex">')
  expect(first.html).not.toContain('"words":["кабачок"]')
  await app.publish(anna, 'Кабачок')
  expect((await read(path)).html).toContain('"words":["кабачок"]')
  const refused = await read('/search?q=%D0%B8')
  expect([refused.status, refused.html.includes('"refusal":"Добавьте слово')]).toEqual([200, true])
  expect((await read('/search')).html).toContain('<title>Поиск - Вслух</title>')
  expect((await read('/Search/?q=')).headers.get('location')).toBe('/search')
})

testPerNode('limits counted in memory, by each node for itself')(
  'a network’s visitors search forty times at once, by calls and pages, a user ten times, and then once a second',
  async () => {
    stopClock()
    const strict = await strictApp()
    const user = await strict.signUp()
    const query = 'search?q=%D0%BA%D0%BE%D1%82'
    const from = (ip = '203.0.113.9') => ({ headers: { 'x-forwarded-for': ip } })
    const page = () => fetch(`${strict.url}/${query}`, from())
    const call = () => strict.call('GET', `/posts/${query}`, from())
    const ownCall = () => strict.call('GET', `/posts/${query}`, { ...from(), token: user.token })
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
    expect((await strict.call('GET', `/posts/${query}`, from('203.0.113.10'))).status).toBe(200)
  },
)

testPerNode('limits counted in memory, by each node for itself')(
  'a search that its time limit has ended is charged as five',
  async () => {
    const strict = await strictApp()
    const from = { headers: { 'x-forwarded-for': '203.0.113.11' } }
    const searchStrict = () => strict.call('GET', '/posts/search?q=%D0%BA%D0%BE%D1%82', from)
    await strict.db.transaction().execute(async (tx) => {
      // Every search waits for the end of this transaction.
      await sql`LOCK TABLE mutes`.execute(tx)
      for (let time = 0; time < 7; time++) expectRefusal(await searchStrict(), 'QUERY_TOO_BROAD')
    })
    const statuses: number[] = []
    while (statuses.at(-1) !== 429) statuses.push((await searchStrict()).status)
    // Seven have taken 35 of 40, and some were given back since.
    expect(statuses.length).toBeGreaterThan(4)
    expect(statuses.length).toBeLessThan(25)
  },
)
