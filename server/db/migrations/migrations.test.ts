import { type Kysely, sql } from 'kysely'
import { expect, inject, onTestFinished, test } from 'vitest'
import { createDatabase, executeOn, freshDatabase, withDatabase } from '../../testing/databases.ts'
import { openDatabase } from '../database.ts'
import * as product from './001-product.ts'
import * as posts from './002-posts.ts'
import { recomputeEmailKeys } from './003-mailboxes.ts'
import * as installation from './005-installation.ts'
import * as moderation from './006-moderation.ts'
import * as mailLog from './009-mail-log.ts'
import * as outbox from './016-outbox.ts'

test('idempotency keys of the last day move to a table of their own and refer to their posts', async () => {
  const server = inject('databaseUrl')
  const name = `test_migrations_${process.pid}`
  await createDatabase(server, name)
  onTestFinished(() => executeOn(server, `DROP DATABASE ${name} WITH (FORCE)`))
  const { db, close } = openDatabase(withDatabase(server, name), () => {})
  onTestFinished(close)
  const unshaped = db as unknown as Kysely<unknown>
  await product.up(unshaped)
  await sql`INSERT INTO users (username, email, email_key) VALUES ('olga', 'o@x.ru', 'o@x.ru')`.execute(
    db,
  )
  await sql`INSERT INTO posts (owner_id, text, idempotency_key, created_at) VALUES
    (1, 'Давно', 'old', now() - interval '2 days'), (1, 'Недавно', 'fresh', now()), (1, 'Без', NULL, now())
  `.execute(db)
  await posts.up(unshaped)
  const keys = await db
    .selectFrom('idempotency_keys')
    .select(['owner_id', 'key', 'post_id'])
    .execute()
  expect(keys).toEqual([{ owner_id: '1', key: 'fresh', post_id: '2' }])
})

test('e-mail keys are computed anew: no account loses a key that is still valid, and of two accounts with the same key the older gets it', async () => {
  const database = await freshDatabase(inject('databaseUrl'))
  const { db, close } = openDatabase(database.url, () => {})
  onTestFinished(async () => {
    await close()
    await database.drop()
  })
  const emails = [
    'Ольга@Пример.рф',
    'ольга@пример。рф',
    'petr@ｅxample.org',
    'petr@example.org',
    'vera@example.org.',
    'Anna+1@example.org',
  ]
  for (const [index, email] of emails.entries()) {
    const email_key = email.normalize('NFC').toLowerCase()
    await db
      .insertInto('users')
      .values({ email, email_key, username: `user_${index}` })
      .execute()
  }
  await recomputeEmailKeys(db as unknown as Kysely<unknown>)
  const rows = await db.selectFrom('users').select(['email', 'email_key']).orderBy('id').execute()
  expect(Object.fromEntries(rows.map((row) => [row.email, row.email_key]))).toEqual({
    'Ольга@Пример.рф': 'ольга@xn--e1afmkfd.xn--p1ai',
    'ольга@пример。рф': 'ольга@пример。рф',
    'petr@ｅxample.org': 'petr@ｅxample.org',
    'petr@example.org': 'petr@example.org',
    'vera@example.org.': 'vera@example.org',
    'Anna+1@example.org': 'anna+1@example.org',
  })
})

test('reports take over the text, author and time of their posts, which they then outlive', async () => {
  const server = inject('databaseUrl')
  const name = `test_reports_${process.pid}`
  await createDatabase(server, name)
  onTestFinished(() => executeOn(server, `DROP DATABASE ${name} WITH (FORCE)`))
  const { db, close } = openDatabase(withDatabase(server, name), () => {})
  onTestFinished(close)
  const unshaped = db as unknown as Kysely<unknown>
  await product.up(unshaped)
  await posts.up(unshaped)
  await installation.up(unshaped)
  await sql`INSERT INTO users (username, email, email_key) VALUES ('olga', 'o@x.ru', 'o@x.ru'),
    ('petr', 'p@x.ru', 'p@x.ru')`.execute(db)
  await sql`INSERT INTO posts (owner_id, text, created_at) VALUES (1, 'Дурно', '2026-01-02 03:04:05Z')`.execute(
    db,
  )
  await sql`INSERT INTO reports (post_id, reporter_id, reason_id) VALUES (1, 2, 3)`.execute(db)
  await moderation.up(unshaped)
  await sql`DELETE FROM posts`.execute(db)
  expect(await db.selectFrom('reports').selectAll().execute()).toMatchObject([
    {
      post_id: '1',
      reporter_id: '2',
      reason_id: '3',
      author_id: '1',
      post_text: 'Дурно',
      posted_at: new Date('2026-01-02T03:04:05Z'),
      state: 'open',
    },
  ])
})

test('the log of mails moves into the outbox, without the mails whose jobs wait', async () => {
  const server = inject('databaseUrl')
  const name = `test_outbox_${process.pid}`
  await createDatabase(server, name)
  onTestFinished(() => executeOn(server, `DROP DATABASE ${name} WITH (FORCE)`))
  const { db, close } = openDatabase(withDatabase(server, name), () => {})
  onTestFinished(close)
  const unshaped = db as unknown as Kysely<unknown>
  for (const migration of [product, installation, mailLog]) await migration.up(unshaped)
  await sql`INSERT INTO mail_log (task, address_hash, masked, first_at, at, outcome, tries, reply, answer) VALUES
    ('send-code', '\\x01', 'o***@x.ru', '2026-01-02Z', '2026-01-03Z', 'refused', 2, 550, '550 no'),
    ('send-code', '\\x02', 'p***@x.ru', now(), now(), 'retrying', 1, NULL, NULL)`.execute(db)
  await outbox.up(unshaped)
  expect(await db.selectFrom('outbox').selectAll().execute()).toMatchObject([
    {
      task: 'send-code',
      state: 'refused',
      payload: null,
      queued_at: new Date('2026-01-02Z'),
      at: new Date('2026-01-03Z'),
      tries: 2,
      masked: 'o***@x.ru',
      address_hash: Buffer.of(1),
      reply: 550,
      answer: '550 no',
    },
  ])
})
