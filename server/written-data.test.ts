import { existsSync, globSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, matchesGlob } from 'node:path'
import { expect, test } from 'vitest'
import { callOf } from './access.fixture.ts'
import { deriveCode } from './features/codes/codes.mail.ts'
import { deriveKey } from './kernel/config/app-secret.ts'
import { leave } from './testing/calls/account-deletion-calls.ts'
import type { AccountFixture } from './testing/calls/account-fixture.ts'
import { startAt, verifyAt, wrongCode } from './testing/calls/sign-in-calls.ts'
import { createClient, DEVICE, type TestUser } from './testing/http/client.ts'
import { allEndpoints } from './testing/http/endpoints.ts'
import { limitRowsKept, privacySection, quoted } from './testing/privacy-page.ts'
import { folderForTest } from './testing/process/folder-for-test.ts'
import { startMain } from './testing/process/start-main.ts'
import { appForTest } from './testing/test-app.ts'

type Client = ReturnType<typeof createClient>

/**
 * Does what a person can do on the wall, also in ways that are refused, and returns every word that
 * may stand in no line and in no file.
 */
async function live(client: Client, codeFor: (id: string) => string): Promise<string[]> {
  const { call } = client
  const olga = await client.signIn('olga.ivanova@example.org')
  const petr = await client.signUp()
  const { token, cookie, clientToken } = olga
  const post = await client.publish(olga)
  const fixture = { owner: olga, post } as AccountFixture
  const texts = ['Грач', 'nightingale', 'a-token-of-nobody']
  for (const [name, { publishes }] of await allEndpoints()) {
    if (!publishes) continue
    const [method, path, sent] = callOf(name, fixture)
    await call(method, path, sent)
    texts.push(...Object.values(sent.body ?? {}).filter((it) => typeof it === 'string'))
  }
  expect(texts).toContain('Переписано')
  for (const body of ['{"text":"Грач', { Грач: 'Грач' }, { text: 'Грач'.repeat(500) }]) {
    const headers = { 'idempotency-key': 'nightingale' }
    expect((await call('POST', '/posts', { token, headers, body })).status).toBe(400)
  }
  const comment = { comment: 'Грач жалуется на обоих' }
  await call('POST', `/posts/${post.id}/reports?reason_id=8`, { token: petr.token, body: comment })
  await call('GET', `/users/${petr.username}/validation`, { token })
  await call('PATCH', '/users/current/profile', { token, body: { username: 'olga_the_great' } })
  await call('POST', '/email-changes/nightingale/undo', { body: { secret: 'nightingale' } })
  const email = 'olga.petrova@example.org'
  const change = await call('PUT', '/users/current/email', { token, body: { email, clientToken } })
  const codes = [codeFor(change.body.id)]
  const path = `/users/current/email/${change.body.id}/verify`
  for (const confirmCode of ['000000', ...codes]) {
    await call('PUT', path, { token, body: { confirmCode, clientToken } })
  }
  const refresh = (body: object) =>
    call('PATCH', '/sessions/current', { body, headers: { cookie } })
  await refresh({ clientToken: 'nightingale' })
  const { accessToken } = (await refresh({ clientToken })).body
  await call('GET', '/posts?secret=nightingale', { token: 'a-token-of-nobody' })
  await call('GET', `/posts?cursor=${token.slice(0, 90)}`, { token })
  await call('GET', `/${token}/${change.body.id}`, { token: `${token}x` })
  await call('GET', `/sessions/${encodeURIComponent(email)}`, { headers: { cookie } })
  expect((await leave({ ...client, codeFor }, olga)).status).toBe(200)
  const start = { email, clientToken, device: DEVICE }
  const login = await call('POST', '/logins', { body: start })
  await call('POST', '/logins', { body: { ...start, email: `${email} x` } })
  codes.push(codeFor(login.body.id))
  const secretsOf = ({ username, email, token, clientToken, cookie }: TestUser) => [
    ...[username, email, token, clientToken, cookie.replace(/^.*?=/, '')],
    ...[token, cookie].map((secret) => secret.split('.').at(-1) ?? ''),
  ]
  const ofOperations = [...codes, change.body.id, login.body.id, accessToken.token]
  return [
    ...secretsOf(olga),
    ...secretsOf(petr),
    email,
    'olga_the_great',
    ...ofOperations,
    ...texts,
  ]
}

test('a running server writes no file and, even at its most verbose level, no line about a person but those on the page about personal data', async () => {
  const dataDir = await folderForTest()
  const started = await startMain({
    DATA_DIR: dataDir,
    LOG_LEVEL: 'trace',
    RATE_LIMIT_SCALE: '1000',
  })
  const secret = (await readFile(join(dataDir, 'app-secret'), 'utf8')).trim()
  const codeFor = (id: string) => deriveCode(id, deriveKey(secret, 'codes'))
  const words = await live(createClient(started.url, { check() {}, codeFor }), codeFor)
  // A job writes it, once the account is deleted.
  await expect.poll(() => existsSync(join(dataDir, 'deletions.jsonl'))).toBe(true)
  await started.stop()

  const rows = privacySection('Files').split('\n')
  const patterns = rows.flatMap((row) => quoted(row.split('|')[1] ?? ''))
  const places = patterns.filter((place) => place.startsWith('DATA_DIR/'))
  const files = globSync('**', { cwd: dataDir, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).replace(dataDir, 'DATA_DIR'))
  const unknown = files.filter((file) => !places.some((place) => matchesGlob(file, place)))
  expect(unknown).toEqual([])
  expect(places.filter((place) => !files.some((file) => matchesGlob(file, place)))).toEqual([])

  const log = started.stderr
  const ownFiles = files.filter((file) => !/^DATA_DIR\/(postgres|mail)\//.test(file))
  const contents = ownFiles.map((file) => readFileSync(file.replace('DATA_DIR', dataDir), 'utf8'))
  for (const word of words.flatMap((it) => [it, encodeURIComponent(it)])) {
    expect(log + contents.join(), word).not.toContain(word)
  }

  const lines = log
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
  // The line that says where the server listens names its own address.
  const ofRequests = lines.filter(({ reqId }) => reqId !== undefined)
  expect(JSON.stringify(ofRequests)).not.toMatch(/127\.0\.0\.1|::1/)
  const aboutUsers = lines.filter(({ userId }) => userId !== undefined).map(({ msg }) => msg)
  expect(new Set(aboutUsers)).toEqual(
    new Set(['request', 'registered', 'e-mail changed', 'account deleted']),
  )
})

test('the page about personal data names every column of every table, and says why and until when', async () => {
  const { sql } = await appForTest()
  const rows = await sql<{ table: string; columns: string[] }>`
    SELECT table_name AS table, array_agg(column_name::text ORDER BY column_name) AS columns
    FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
    WHERE table_schema = 'public' AND table_type = 'BASE TABLE' GROUP BY 1`
  const inSchema = new Map(rows.map(({ table, columns }) => [table, columns]))
  const nobodys = quoted(privacySection('Tables about nobody'))
  const lines = privacySection('Tables about people').split('\n')
  const onPage = lines
    .filter((line) => line.startsWith('| `'))
    .map((line) => {
      const [, table = '', columns = '', why, until] = line.split('|')
      for (const cell of [why, until]) expect(cell, table).toMatch(/\w{3}/)
      return [quoted(table)[0] ?? '', quoted(columns).sort()] as const
    })
  const named = [...onPage.map(([table]) => table), ...nobodys]
  expect(named.sort()).toEqual([...inSchema.keys()].sort())
  for (const [table, columns] of onPage) expect(columns, table).toEqual(inSchema.get(table))
  // A table about nobody refers to nobody.
  for (const table of nobodys) {
    expect(inSchema.get(table), table).not.toContainEqual(
      expect.stringMatching(/user_id|owner_id|email/),
    )
  }
})

test('the page says how long the limits that count for longer than a day keep their rows', async () => {
  const app = await appForTest()
  const olga = await app.signIn('olga@example.org')
  await app.publish(olga)
  for (const { clientToken, browser } of [olga, { clientToken: 'a stranger', browser: '' }]) {
    const { id } = (await startAt(app, '/logins', { email: olga.email, clientToken, browser })).body
    const code = wrongCode(app.codeFor(id))
    expect((await verifyAt(app, '/logins', { id, code, clientToken, browser })).status).toBe(400)
  }
  const rows = await app.sql<{ name: string; seconds: number }>`
    SELECT split_part(key, '/', 1) AS name,
      max(split_part(split_part(key, '/', 2), ' ', 1)::int) AS seconds
    FROM rate_limits GROUP BY 1`
  const { named, other } = limitRowsKept()
  const counted = rows.filter(({ seconds }) => seconds > other)
  expect(new Map(counted.map(({ name, seconds }) => [name, seconds]))).toEqual(named)
})

test('the page names every event that the log tells about a user', () => {
  const sources = globSync('**/*.ts', { cwd: import.meta.dirname, exclude: ['**/*.test.ts'] })
  const read = (path: string) => readFileSync(join(import.meta.dirname, path), 'utf8')
  const text = sources.map(read).join('\n')
  const logged = text.matchAll(/logEvent\(request, (?:isRepeated \? '([^']+)' : )?'([^']+)'/g)
  const direct = [...logged].flatMap(([, repeated, event = '']) => [repeated ?? [], event].flat())
  const events = new Set([...direct, 'registered', 'signed in', 'account returned'])
  expect(direct.length).toBeGreaterThan(2)
  const onPage = quoted(privacySection('The log')).filter((word) => word !== 'userId')
  expect(onPage.sort()).toEqual([...events].sort())
})
