import { type RawBuilder, sql } from 'kysely'
import { isRowId, type Queryable } from '../../kernel/db/database.ts'
import { emailKey } from '../../kernel/mail/email-address.ts'

export type Accounts = { total: number; usernames: string[] }

export type Person = {
  id: string
  username: string
  email: string
  created_at: Date
  is_deleted: boolean
  seen_at: Date | null
  is_moderator: boolean
  posts: number
  replies: number
  hidden: number
  likes: number
  sessions: number
  passkeys: number
  unread_replies: number
  wants_reply_mails: boolean
  block_reason: string | null
  block_until: Date | null
  reported: number
  removed: number
  kept: number
  /** The user's own reports, and how many of them were refused. */
  reports: number
  refused: number
  /** Other accounts that may belong to the same person. */
  sameMailbox: Accounts
  sameNetwork: Accounts
}

/** Finds users by username, e-mail or id: two users if one's username is the other's id. */
export async function selectPeople(db: Queryable, words: string): Promise<Person[]> {
  const id = isRowId(words) ? words : '0'
  const isKnown = sql`lower(username) = ${words.toLowerCase()} OR email_key = ${emailKey(words)} OR id = ${id}`
  return (await selectWhere(db, isKnown)).people
}

/** Reads a page of users who registered within `seconds`, and counts them from this page on. */
export function selectNewcomers(
  db: Queryable,
  { seconds, before, limit }: { seconds: number; before: string | undefined; limit: number },
) {
  const isNew = sql`created_at > now() - ${seconds} * interval '1 second'
    AND (${before ?? null}::bigint IS NULL OR id < ${before ?? null})`
  return selectWhere(db, isNew, limit)
}

const otherAccounts = (condition: string) =>
  sql.raw(`(
  SELECT json_build_object('total', count(*), 'usernames', coalesce((array_agg(same.username ORDER BY same.id DESC))[:5], '{}'))
  FROM users same WHERE same.id <> u.id AND ${condition})`)
const OF_MAILBOX = otherAccounts('same.mailbox = u.mailbox')
/** Accounts that registered from the same network within a day of the user. */
const OF_NETWORK = otherAccounts(`same.network_hash = u.network_hash
  AND same.created_at BETWEEN u.created_at - interval '1 day' AND u.created_at + interval '1 day'`)

async function selectWhere(
  db: Queryable,
  condition: RawBuilder<unknown>,
  limit: number | null = null,
): Promise<{ people: Person[]; total: number }> {
  const { rows } = await sql<Person & { total: number }>`
    SELECT u.id, u.username, u.email, u.created_at, u.deleted_at IS NOT NULL AS is_deleted,
      greatest((SELECT max(used_at) FROM sessions s WHERE s.user_id = u.id),
        (SELECT max(used_at) FROM known_clients k WHERE k.user_id = u.id)) AS seen_at,
      EXISTS (SELECT FROM moderator_users m WHERE m.user_id = u.id) AS is_moderator,
      coalesce(o.posts, 0)::float8 AS posts, coalesce(o.replies, 0)::float8 AS replies,
      (SELECT count(*) FROM posts p WHERE p.owner_id = u.id AND p.hidden_for IS NOT NULL)::float8 AS hidden,
      (SELECT count(*) FROM likes l JOIN visible_posts p ON p.id = l.post_id WHERE l.user_id = u.id)::float8 AS likes,
      (SELECT count(*) FROM sessions s WHERE s.user_id = u.id)::int AS sessions,
      (SELECT count(*) FROM passkeys k WHERE k.user_id = u.id AND k.removed_at IS NULL)::int AS passkeys,
      (SELECT count(*)::int FROM received_replies r WHERE r.recipient_id = u.id AND r.received_no > a.seen_no)
        AS unread_replies, coalesce(a.wants_mail, true) AS wants_reply_mails,
      b.reason AS block_reason, b.until AS block_until,
      of_posts.reported, of_posts.removed, of_posts.kept, own.reports, own.refused,
      ${OF_MAILBOX} AS "sameMailbox", ${OF_NETWORK} AS "sameNetwork", u.total
    FROM (SELECT *, (count(*) OVER ())::int AS total FROM users
      WHERE ${condition} ORDER BY id DESC LIMIT ${limit}::int) u
    LEFT JOIN owner_totals o ON o.user_id = u.id
    LEFT JOIN answer_states a ON a.user_id = u.id
    LEFT JOIN blocks_in_force b ON b.user_id = u.id
    CROSS JOIN LATERAL (
      SELECT count(*)::int AS reported, (count(*) FILTER (WHERE state = 'removed'))::int AS removed,
        (count(*) FILTER (WHERE state = 'kept'))::int AS kept
      FROM reports WHERE author_id = u.id
    ) of_posts
    CROSS JOIN LATERAL (
      SELECT count(*)::int AS reports, (count(*) FILTER (WHERE state = 'kept'))::int AS refused
      FROM reports WHERE reporter_id = u.id
    ) own
    ORDER BY u.id DESC`.execute(db)
  const people = rows.map(({ total, ...person }) => person)
  return { people, total: rows[0]?.total ?? 0 }
}
