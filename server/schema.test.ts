import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { privacySection } from './testing/privacy-page.ts'
import { appForFile } from './testing/test-app.ts'

const { sql } = await appForFile()

/** Foreign keys without an index of their own, and why a deletion does not need one. */
const UNINDEXED: Record<string, string> = {
  'users.consent_version': 'texts of a consent are never deleted',
  'reports.reason_id': 'reasons of reports are never deleted',
  'posts.owner_id': 'three partial indexes cover all posts together',
}

test('every foreign key has an index that begins with it, or a reason to have none', async () => {
  const keys = await sql<{ key: string; isIndexed: boolean }>`
    SELECT conrelid::regclass || '.' || string_agg(attname, ', ' ORDER BY place) AS key,
      EXISTS (
        SELECT FROM pg_index
        WHERE indrelid = conrelid AND (indkey::int2[])[0:cardinality(conkey) - 1] @> conkey
          AND (indpred IS NULL OR pg_get_expr(indpred, indrelid) = '(' || min(attname) || ' IS NOT NULL)')
      ) AS "isIndexed"
    FROM pg_constraint
    CROSS JOIN unnest(conkey) WITH ORDINALITY AS key (attnum, place)
    JOIN pg_attribute ON attrelid = conrelid AND pg_attribute.attnum = key.attnum
    WHERE contype = 'f' AND connamespace = 'public'::regnamespace
    GROUP BY conrelid, conkey`
  expect(keys.length).toBeGreaterThan(15)
  const without = keys.filter(({ isIndexed }) => !isIndexed).map(({ key }) => key)
  const hint = 'add an index in server/schema/, or a reason to UNINDEXED in server/schema.test.ts'
  expect(without.sort(), hint).toEqual(Object.keys(UNINDEXED).sort())
})

/** Tables about people that the download leaves out, and why. */
const NOT_DOWNLOADED: Record<string, string> = {
  reserved_usernames: 'names of erased people, and names taken away, as hashes',
  passkey_operations: 'a sign-in under way',
  closed_sessions: 'names nobody',
  codes: 'a sign-in under way',
  redeemed_codes: 'a sign-in that has just ended',
  outbox: 'hashes and masks, which no account can be found by',
  mail_refusals: 'hashes of networks',
  rate_limits: 'hashes of limits',
  mailed_networks: 'hashes of mailboxes with networks',
  owner_totals: 'counts of the posts, which are all there',
  idempotency_keys: 'kept for a day, of posts that are all there',
  blocked_mailboxes: 'hashes of mailboxes; the block itself is there',
  moderators: 'the operator’s list',
  bans: 'the operator’s list, of people without an account',
  invitations: 'the operator’s list, of people without an account',
}

test('the download reads every table about people, or a reason says why it does not', () => {
  const path = join(import.meta.dirname, 'features/data-export/data-export.repository.ts')
  const read = [...readFileSync(path, 'utf8').matchAll(/\b(?:FROM|JOIN) (\w+)/g)]
  const tables = [...privacySection('Tables about people').matchAll(/^\| `(\w+)` /gm)]
  const names = (found: RegExpExecArray[]) => new Set(found.map(([, name = '']) => name))
  const unread = [...names(tables).difference(names(read))]
  const hint = 'read it in data-export.repository.ts, or add a reason to NOT_DOWNLOADED'
  expect(unread.sort(), hint).toEqual(Object.keys(NOT_DOWNLOADED).sort())
})
