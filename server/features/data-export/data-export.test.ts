import { execFileSync } from 'node:child_process'
import { expect, onTestFinished, test, vi } from 'vitest'
import { WRITTEN_FIELD_NAMES } from '../../../contract/post-rules.ts'
import { decide, report, signUpModerator } from '../../testing/calls/moderation-calls.ts'
import type { TestUser } from '../../testing/http/client.ts'
import { expectRefusal, expectTooMany } from '../../testing/http/expect-refusal.ts'
import { appForFile, strictApp, testPerNode } from '../../testing/test-app.ts'
import { EXPORTED_LISTS } from './data-export.repository.ts'

const MANY = Number(process.env.EXPORTED_POSTS ?? 5000)

const app = await appForFile({ config: { accessJournalDays: 365 } })

async function download({ token }: TestUser, from = app): Promise<Response> {
  const { status, body } = await from.call('POST', '/users/current/downloads', { token })
  expect(status).toBe(201)
  return fetch(from.url + body.path)
}

const UNZIP = `import io, json, sys, zipfile
zip = zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read()))
print(json.dumps({name: zip.read(name).decode() for name in zip.namelist()}))`

/** Returns the files of an archive as another program reads them. */
async function unzip(archive: Response): Promise<Record<string, string>> {
  const input = Buffer.from(await archive.arrayBuffer())
  const output = execFileSync('python3', ['-c', UNZIP], { input, maxBuffer: 2 ** 30 })
  return JSON.parse(output.toString())
}

/** The columns that the export leaves out, and why; the columns it renames; its fields from other tables. */
const COLUMNS = {
  posts: {
    file: 'posts.json',
    renamed: {
      ...{ created_at: 'publishedAt', hidden_for: 'archived' },
      ...{ likes_count: 'likes', replies_count: 'replies' },
      // As the API names them.
      ...Object.fromEntries(WRITTEN_FIELD_NAMES.map((field) => [field, field])),
    },
    leftOut: {
      owner_id: 'the person who downloads',
      parent_post_id: 'follows from the replied post',
      recipient_id: 'follows from the replied post',
      received_no: 'counts what another person has received',
      is_muted: 'a list in account.json',
      hidden_reason: 'in decisions.json',
      hidden_by: 'names a moderator',
      hidden_at: 'in decisions.json',
      hidden_until: 'when the post is erased, the same for all posts',
    },
    others: [],
  },
  users: {
    file: 'account.json',
    renamed: { created_at: 'registeredAt' },
    leftOut: {
      email_key: 'follows from the email',
      mailbox: 'follows from the email',
      is_returning: 'a step of a job',
      network_hash: 'three bytes that fit many networks',
      network_group: 'a random number that means nothing outside the wall',
    },
    others: [
      ...[
        'sessions',
        'knownBrowsers',
        'formerEmails',
        'passkeys',
        'formerUsernames',
        'block',
        'answers',
      ],
      ...['mentionedIn', 'repliesToMutedPosts', 'mutedPosts', 'mutedUsers', 'reports', 'appeals'],
    ],
  },
}

const camel = (name: string) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase())

test('a person downloads every column about them but those left out for a reason, as JSON and as a page in which nothing is code', async () => {
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  const post = await app.publish(olga, 'Первая <script>alert(1)</script> & «кавычки»')
  const foreign = await app.publish(petr, 'Чужая запись')
  const reply = await app.reply(olga, foreign.id, 'Мой ответ')
  const clarification = await app.reply(olga, post.id, 'Уточнение')
  await app.sql`UPDATE posts SET clarification_id = ${clarification.id} WHERE id = ${post.id}`
  await app.call('POST', `/posts/${foreign.id}/likes`, { token: olga.token })
  await app.call('POST', `/posts/${foreign.id}/reports?reason_id=1`, { token: olga.token })
  await app.call('PUT', `/users/${petr.id}/mute`, { token: olga.token })
  const mention = await app.publish(petr, `Привет, @${olga.username}`)
  await app.call('PUT', `/posts/${post.id}/muted`, { token: olga.token })
  const muted = await app.reply(petr, post.id)

  const response = await download(olga)
  expect(response.headers.get('content-type')).toBe('application/zip')
  expect(response.headers.get('content-disposition')).toContain('attachment')
  expect(response.headers.get('cache-control')).toBe('no-store')
  const files = await unzip(response)
  const names = ['account.json', 'posts.json', ...Object.keys(EXPORTED_LISTS), 'index.html']
  expect(Object.keys(files)).toEqual(names)
  expect(JSON.parse(files['account.json'] ?? '')).toMatchObject({
    id: olga.id,
    username: olga.username,
    email: olga.email,
    sessions: [{ browser: 'Firefox', os: 'Linux' }],
    mutedUsers: [{ userId: petr.id, mutedAt: expect.any(String) }],
    mentionedIn: [mention.id],
    repliesToMutedPosts: [muted.id],
    reports: [{ postId: foreign.id, reason: 'Спам или реклама', state: 'open' }],
  })
  expect(JSON.parse(files['posts.json'] ?? '')).toMatchObject([
    { id: post.id, repliedPostId: null, clarificationId: clarification.id, archived: null },
    { id: reply.id, text: 'Мой ответ', repliedPostId: foreign.id },
    { id: clarification.id, repliedPostId: post.id, clarificationId: null },
  ])
  expect(JSON.parse(files['likes.json'] ?? '')).toMatchObject([{ postId: foreign.id }])
  expect(files['index.html']).toContain('Первая &#60;script&#62;alert(1)')
  expect(files['index.html']).not.toContain('<script')
  expect(JSON.stringify(files)).not.toContain(petr.username)

  for (const [table, { file, renamed, leftOut, others }] of Object.entries(COLUMNS)) {
    const [row] = [JSON.parse(files[file] ?? '')].flat()
    const columns = await app.sql<{ name: string }>`SELECT column_name::text AS name
      FROM information_schema.columns WHERE table_name = ${table}`
    const names = columns.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(Object.keys({ ...leftOut, ...renamed })))
    const exported = names.filter((name) => !Object.hasOwn(leftOut, name))
    const fields = exported.map((name) => new Map(Object.entries(renamed)).get(name) ?? camel(name))
    expect(Object.keys(row).sort(), table).toEqual([...fields, ...others].sort())
  }
})

test('the archive has likes of hidden posts, known browsers, decisions about the person and stored addresses, to the last row', async () => {
  const [olga, petr] = [await signUpModerator(app), await app.signUp()]
  const other = await signUpModerator(app)
  // More than one step of posts that are being deleted for good, and have no text any more.
  await app.sql`INSERT INTO posts (owner_id, text, hidden_for, hidden_until)
    SELECT ${olga.id}, '', 'deleted', 'infinity' FROM generate_series(1, 600)`
  const foreign = await app.publish(petr, 'Чужая запись')
  await app.call('POST', `/posts/${foreign.id}/likes`, { token: olga.token })
  const own = await app.publish(olga, 'Спорная запись')
  for (const [postId, reporter, moderator] of [
    [foreign.id, olga, olga],
    [own.id, petr, other],
  ] as const) {
    await report(app, reporter, { postId })
    await decide(app, moderator, { postId, verdict: 'remove', note: 'Надоела' })
  }
  // More than one step of each, addresses all at one moment.
  await app.sql`WITH liked AS (
      INSERT INTO posts (owner_id, text) SELECT ${petr.id}, 'Запись' FROM generate_series(1, 1200) RETURNING id
    )
    INSERT INTO likes (post_id, user_id) SELECT id, ${olga.id}::bigint FROM liked`
  await app.sql`INSERT INTO access_journal (action, user_id, address)
    SELECT 'publish', ${olga.id}, '192.0.2.' || n % 256 FROM generate_series(1, 1200) n`

  const files = await unzip(await download(olga))
  const read = (name: string) => JSON.parse(files[name] ?? '')
  expect(read('posts.json')).toMatchObject([{ id: own.id, archived: 'removed' }])
  const likes: { id: string }[] = read('likes.json')
  expect(likes[0]).toMatchObject({ postId: foreign.id, isArchived: true })
  expect(new Set(likes.map(({ id }) => id)).size).toBe(1201)
  expect(read('account.json').knownBrowsers).toMatchObject([
    { fingerprint: expect.stringMatching(/^[\da-f]{64}$/), usedAt: expect.any(String) },
  ])
  expect(read('decisions.json')).toMatchObject([
    { action: 'post.remove', postId: own.id, reason: 'Спам или реклама', text: 'Спорная запись' },
  ])
  const addresses = read('addresses.json')
  expect(addresses[0]).toMatchObject({ action: 'register', address: expect.any(String) })
  const published = addresses.filter(({ action }: { action: string }) => action === 'publish')
  expect(published).toHaveLength(1201)
  expect(new Set(addresses.map(({ id }: { id: string }) => id)).size).toBe(addresses.length)
  expect(files['index.html']).toContain(
    'отметки «Нравится» — в likes.json, решения о вас и ваших записях — в decisions.json, ' +
      'сетевые адреса, если сайт обязан их хранить, — в addresses.json.',
  )
})

test('a person may ask again until an archive has gone out, once a day; a ticket serves for a minute: not a HEAD, and nobody with a forged one', async () => {
  const app = await strictApp()
  const olga = await app.signUp()
  const ask = () => app.call('POST', '/users/current/downloads', { token: olga.token })
  // The answer to the first is lost.
  await ask()
  const { body } = await ask()
  const [id, until, signature] = body.path.split('/').at(-1).split('.')
  const read = (ticket: string) => app.call('GET', `/downloads/${ticket}`)
  for (const ticket of [`1${id}.${until}.${signature}`, `${id}.${until}0.${signature}`, 'no']) {
    expectRefusal(await read(ticket), 'NOT_FOUND')
  }
  const head = await fetch(app.url + body.path, { method: 'HEAD' })
  expect([head.status, head.headers.get('content-disposition')]).toEqual([405, null])
  for (const _ of ['the in-app browser', 'its download manager']) {
    const answer = await fetch(app.url + body.path)
    expect([answer.status, (await answer.arrayBuffer()).byteLength > 0]).toEqual([200, true])
  }
  await expect.poll(async () => (await ask()).status).toBe(429)
  expectTooMany(await ask(), { least: 86_000, most: 86_400 })
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
  onTestFinished(() => void vi.useRealTimers())
  expect((await read(`${id}.${until}.${signature}`)).body.message).toBe('Запросите архив ещё раз')
})

testPerNode('how much one node does at once')(
  'two archives are made at a time for one network; a refused or incomplete download may be repeated within the day, five times',
  async () => {
    const app = await strictApp()
    const [olga, petr, ira] = [await app.signUp(), await app.signUp(), await app.signUp()]
    // More than the buffers of a connection hold: text that no packer makes smaller, repeated
    // beyond its memory.
    await app.sql`WITH pool AS MATERIALIZED (
        SELECT i, string_agg(chr(19968 + (random() * 20000)::int), '') AS text
        FROM generate_series(0, 199) i, generate_series(1, 500) GROUP BY i
      ) INSERT INTO posts (owner_id, text) SELECT owner, text
      FROM unnest(${[olga.id, petr.id]}::bigint[]) owner, generate_series(1, 8000) n
      JOIN pool ON i = n % 200 ORDER BY n`
    const unread = [await download(olga, app), await download(petr, app)]
    expect(unread.map(({ status }) => status)).toEqual([200, 200])
    const ask = ({ token } = olga, headers = {}) =>
      app.call('POST', '/users/current/downloads', { token, headers })
    const busy = await ask(ira)
    expectRefusal(busy, 'UNAVAILABLE')
    expect(busy.body.message).toMatch(/^Сейчас собираем архивы/)
    // Polled, because the archives may keep the processor busy for the longest wait of a call.
    const askElsewhere = () => ask(ira, { 'x-forwarded-for': '192.0.2.1' })
    await expect.poll(async () => (await askElsewhere()).status).toBe(201)

    for (const { body } of unread) await body?.cancel()
    await expect.poll(async () => (await ask()).status).toBe(201)
    const ticket = (await ask()).body.path
    const breakOff = async () => {
      const { status, body } = await fetch(app.url + ticket)
      await body?.cancel()
      return status
    }
    for (let time = 2; time <= 5; time++) await expect.poll(breakOff).toBe(200)
    await expect.poll(breakOff).toBe(429)
    await expect.poll(async () => (await ask()).status).toBe(429)
    expectTooMany(await ask(), { least: 4 * 3600, most: 5 * 3600 })
  },
)

test(`an account with ${MANY} posts is downloaded whole, in bounded memory`, async () => {
  const olga = await app.signUp()
  await app.sql`INSERT INTO posts (owner_id, text)
    SELECT ${olga.id}, 'Запись ' || n || ' ' || md5(n::text) FROM generate_series(1, ${MANY}::int) n`
  const response = await download(olga)
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let largest = 0
  const before = process.memoryUsage().heapUsed
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk)
    largest = Math.max(largest, process.memoryUsage().heapUsed - before)
  }
  expect(largest).toBeLessThan(120 * 1024 * 1024)
  const files = await unzip(new Response(new Blob(chunks)))
  expect(JSON.parse(files['posts.json'] ?? '')).toHaveLength(MANY)
  expect(files['index.html']?.match(/<article>/g)).toHaveLength(MANY)
}, 120_000)

/** The files with the rows of each table about people, or why a table is in none. */
const TABLES: Record<string, string> = {
  answer_states: 'account.json',
  appeals: 'account.json',
  blocks: 'account.json',
  email_changes: 'account.json',
  idempotency_keys: 'which post was published by which call, for a day',
  known_clients: 'account.json',
  likes: 'likes.json',
  mentions: 'account.json',
  muted_replies: 'account.json',
  mutes: 'account.json',
  owner_totals: 'counts the rows of posts.json',
  passkey_operations: 'a sign-in that is going on, for minutes',
  passkeys: 'account.json',
  posts: 'posts.json',
  redeemed_codes: 'the answer to a code that was right, for minutes',
  released_usernames: 'account.json',
  reports: 'account.json',
  sessions: 'account.json',
}

test('a new table about people is downloaded, or has a reason why not', async () => {
  const tables = await app.sql<{ name: string }>`
    SELECT DISTINCT conrelid::regclass::text AS name FROM pg_constraint
    WHERE confrelid = 'users'::regclass ORDER BY name`
  expect(tables.map(({ name }) => name)).toEqual(Object.keys(TABLES))
})
