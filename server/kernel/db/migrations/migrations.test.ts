import { type Kysely, sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { findCounterDifferences } from '../../../features/posts/counters.task.ts'
import { databaseForTest, openDatabaseForTest } from '../../../testing/database-for-test.ts'
import { openDatabase } from '../database.ts'
import { MIGRATIONS, migrate } from '../migrate.ts'
import * as product from './001-product.ts'
import * as posts from './002-posts.ts'
import { recomputeEmailKeys } from './003-mailboxes.ts'
import * as installation from './005-installation.ts'
import * as moderation from './006-moderation.ts'
import * as mailLog from './009-mail-log.ts'
import * as outbox from './016-outbox.ts'

/** Opens a database without tables, until the test has finished. */
async function openEmpty() {
  const url = await databaseForTest('template0')
  const { db, close } = openDatabase(url, () => {})
  onTestFinished(close)
  return { db, unshaped: db as unknown as Kysely<unknown>, url }
}

/** Opens a database as it was before posts were hidden by a column. */
async function openBefore013() {
  const opened = await openEmpty()
  const older = Object.entries(MIGRATIONS).filter(([name]) => name < '013')
  await migrate(opened.url, { migrations: Object.fromEntries(older) })
  return opened
}

test('idempotency keys of the last day move to a table of their own and refer to their posts', async () => {
  const { db, unshaped } = await openEmpty()
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
  const { db } = await openDatabaseForTest()
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
  const { db, unshaped } = await openEmpty()
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

test('a wall with removed, hidden, left and deleted posts keeps all of them, their likes and exact counts', async () => {
  const { db, url } = await openBefore013()
  await sql
    .raw(`
    INSERT INTO users (username, email, email_key, deleted_at) VALUES
      ('olga', 'o@x.ru', 'o@x.ru', NULL), ('petr', 'p@x.ru', 'p@x.ru', NULL), ('vera', 'v@x.ru', 'v@x.ru', now());
    INSERT INTO posts (owner_id, text, likes_count, replies_count) VALUES (1, 'Видна', 1, 0), (1, 'Удаляемая', 0, 1);
    INSERT INTO posts (owner_id, text, replied_post_id, parent_post_id) VALUES (2, 'Ответ', 2, 2);
    DELETE FROM posts WHERE id = 2;
    SELECT setval('posts_id_seq', 100);
    INSERT INTO archived_posts
      (id, owner_id, text, created_at, is_modified, likes_count, replies_count, why, reason, archived_by, until, is_restoring)
    VALUES
      (10, 1, 'Снята', now(), false, 1, 0, 'removed', 'Спам', 'm@x.ru', now() + interval '30 days', false),
      (11, 1, 'Скрыта', now(), false, 2, 0, 'hidden', NULL, 'vslukh', now() + interval '180 days', false),
      (12, 1, 'Улика', now(), false, 0, 0, 'deleted', NULL, 'author', now() + interval '30 days', false),
      (13, 3, 'Ушла', now(), false, 1, 0, 'left', NULL, 'vslukh', 'infinity', false),
      (14, 1, 'Возвращается', now(), false, 2, 0, 'removed', 'Спам', 'm@x.ru', now() + interval '30 days', true);
    INSERT INTO likes (post_id, user_id) VALUES (1, 2), (11, 2), (14, 2), (99, 2);
    INSERT INTO removed_posts (post_id, keeps_likes) VALUES (11, true), (14, true), (99, false);
    INSERT INTO archived_likes (id, post_id, user_id, created_at) VALUES
      (50, 10, 2, now()), (51, 11, 1, now()), (52, 13, 1, now()), (53, 14, 1, now()), (54, 1, 3, now());
    INSERT INTO owner_totals (user_id, posts, replies) VALUES (1, 1, 0), (2, 0, 1);
    INSERT INTO like_totals (user_id, likes) VALUES (1, 0), (2, 4), (3, 0);
    UPDATE wall_totals SET posts = 1 WHERE slot = 3;`)
    .execute(db)

  await migrate(url)
  const rows = await db
    .selectFrom('posts')
    .select(['id', 'hidden_for', 'hidden_reason', 'likes_count'])
    .orderBy('id')
    .execute()
  expect(rows).toEqual([
    { id: '1', hidden_for: null, hidden_reason: null, likes_count: 1 },
    { id: '3', hidden_for: null, hidden_reason: null, likes_count: 0 },
    { id: '10', hidden_for: 'removed', hidden_reason: 'Спам', likes_count: 1 },
    { id: '11', hidden_for: 'reported', hidden_reason: null, likes_count: 2 },
    { id: '12', hidden_for: 'deleted', hidden_reason: null, likes_count: 0 },
    { id: '13', hidden_for: 'left', hidden_reason: null, likes_count: 1 },
    { id: '14', hidden_for: null, hidden_reason: null, likes_count: 2 },
  ])
  const likes = await db
    .selectFrom('likes')
    .select(['post_id', 'user_id', 'post_hidden', 'user_left'])
    .where((eb) => eb.or([eb('post_hidden', '=', true), eb('user_left', '=', true)]))
    .orderBy('post_id')
    .orderBy('user_id')
    .execute()
  expect(likes.map((like) => Object.values(like).join(' '))).toEqual([
    '1 3 false true',
    '10 2 true false',
    '11 1 true false',
    '11 2 true false',
    '13 1 true false',
  ])
  expect(await findCounterDifferences(db)).toEqual([])
})

test('bans on what is no network are removed, the others stay and are compared by PostgreSQL', async () => {
  const { db, url } = await openBefore013()
  await sql`INSERT INTO bans (kind, value) VALUES ('network', 'fe80::1%eth0'), ('network', '10.0.0.0/40'),
    ('network', '203.0.113.0/24'), ('domain', 'spam.example')`.execute(db)
  await migrate(url)
  const bans = await db.selectFrom('bans').select(['value', 'network']).orderBy('id').execute()
  expect(bans).toEqual([
    { value: '203.0.113.0/24', network: '203.0.113.0/24' },
    { value: 'spam.example', network: null },
  ])
})

test('the log of mails moves into the outbox, without the mails whose jobs wait', async () => {
  const { db, unshaped } = await openEmpty()
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
