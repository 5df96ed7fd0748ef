import { type RawBuilder, sql } from 'kysely'
import { idArray, isRowId, type Queryable } from '../../kernel/db/database.ts'
import { emailKey, mailboxOf } from '../../kernel/mail/email-address.ts'

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
}

/** Finds users by username, e-mail or id: two when one's username is the other's id. */
export function selectPeople(db: Queryable, known: string): Promise<Person[]> {
  const id = isRowId(known) ? known : '0'
  return selectWhere(
    db,
    sql`lower(u.username) = ${known.toLowerCase()} OR u.email_key = ${emailKey(known)} OR u.id = ${id}`,
  )
}

/** Returns users `u`, the newest first. */
async function selectWhere(db: Queryable, condition: RawBuilder<unknown>): Promise<Person[]> {
  const { rows } = await sql<Person>`
    SELECT u.id, u.username, u.email, u.created_at, u.deleted_at IS NOT NULL AS is_deleted,
      greatest((SELECT max(used_at) FROM sessions s WHERE s.user_id = u.id),
        (SELECT max(used_at) FROM known_clients k WHERE k.user_id = u.id)) AS seen_at,
      EXISTS (SELECT FROM moderator_users m WHERE m.user_id = u.id) AS is_moderator,
      coalesce(o.posts, 0)::float8 AS posts, coalesce(o.replies, 0)::float8 AS replies,
      (SELECT count(*) FROM posts p WHERE p.owner_id = u.id AND p.hidden_for IS NOT NULL)::float8 AS hidden,
      coalesce(l.likes, 0)::float8 AS likes,
      (SELECT count(*) FROM sessions s WHERE s.user_id = u.id)::int AS sessions,
      (SELECT count(*)::int FROM received_replies r WHERE r.recipient_id = u.id AND r.received_no > a.seen_no)
        AS unread_replies, coalesce(a.wants_mail, true) AS wants_reply_mails,
      b.reason AS block_reason, b.until AS block_until,
      of_posts.reported, of_posts.removed, of_posts.kept, own.reports, own.refused
    FROM users u
    LEFT JOIN owner_totals o ON o.user_id = u.id
    LEFT JOIN like_totals l ON l.user_id = u.id
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
    WHERE ${condition} ORDER BY u.id DESC`.execute(db)
  return rows
}

type NewcomersPage = { seconds: number; before: string | undefined; limit: number }

async function selectNewcomers(
  db: Queryable,
  { seconds, before, limit }: NewcomersPage,
): Promise<{ people: Person[]; total: number }> {
  const { rows } = await sql<{ id: string; total: number }>`
    SELECT id, (count(*) OVER ())::int AS total FROM users
    WHERE created_at > now() - ${seconds} * interval '1 second'
      AND (${before ?? null}::bigint IS NULL OR id < ${before ?? null})
    ORDER BY id DESC LIMIT ${limit}`.execute(db)
  const ids = idArray(rows.map(({ id }) => id))
  const people = await selectWhere(db, sql`u.id = ANY(${ids}::bigint[])`)
  return { people, total: rows[0]?.total ?? 0 }
}

async function selectOfMailboxes(db: Queryable, mailboxes: string[]) {
  const { rows } = await sql<{ id: string; username: string; email: string }>`
    SELECT id, username, email FROM users WHERE mailbox = ANY(${mailboxes}) ORDER BY id`.execute(db)
  return rows
}

/** Whom each user shares the network of the registration with, within a day of it. */
async function selectOfNetwork(db: Queryable, userIds: string[]) {
  const { rows } = await sql<{ of_id: string; username: string }>`
    SELECT u.id AS of_id, o.username FROM users u JOIN users o ON o.network_hash = u.network_hash AND o.id <> u.id
      AND o.created_at BETWEEN u.created_at - interval '1 day' AND u.created_at + interval '1 day'
    WHERE u.id = ANY(${idArray(userIds)}::bigint[]) ORDER BY o.id DESC`.execute(db)
  return rows
}

export type Accounts = { total: number; usernames: string[] }
/** With other accounts that may be the same person's. */
export type Newcomer = Person & { sameMailbox: Accounts; sameNetwork: Accounts }

const NAMED_MAX = 5

/** Reads who registered, the newest first, and how many there are from the first of them on. */
export async function readNewcomers(
  db: Queryable,
  page: NewcomersPage,
): Promise<{ newcomers: Newcomer[]; total: number }> {
  const { people, total } = await selectNewcomers(db, page)
  const ids = people.map(({ id }) => id)
  const mailboxes = people.map(({ email }) => mailboxOf(email))
  const twins = await selectOfMailboxes(db, mailboxes)
  const byMailbox = Map.groupBy(twins, ({ email }) => mailboxOf(email))
  const ofNetwork = Map.groupBy(await selectOfNetwork(db, ids), ({ of_id }) => of_id)
  const newcomers = people.map((person) => {
    const mailbox = byMailbox.get(mailboxOf(person.email)) ?? []
    const others = mailbox.filter(({ id }) => id !== person.id)
    const network = ofNetwork.get(person.id) ?? []
    return { ...person, sameMailbox: someOf(others), sameNetwork: someOf(network) }
  })
  return { newcomers, total }
}

function someOf(users: { username: string }[]): Accounts {
  const usernames = users.slice(0, NAMED_MAX).map(({ username }) => username)
  return { total: users.length, usernames }
}
