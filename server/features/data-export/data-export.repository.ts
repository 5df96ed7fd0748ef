import { type RawBuilder, sql } from 'kysely'
import { WRITTEN_FIELD_NAMES } from '../../../contract/post-rules.ts'
import type { PostBody } from '../../../contract/posts.ts'
import type { Queryable } from '../../kernel/db/database.ts'

/** The rows that one statement reads; an export holds no more rows in memory. */
const STEP = sql.raw('500')

export async function selectAccount(db: Queryable, userId: string) {
  const { rows } = await sql<{ account: Record<string, unknown> }>`
    SELECT json_build_object(
      'id', u.id::text, 'username', u.username, 'email', u.email,
      'registeredAt', u.created_at, 'consentedAt', u.consented_at, 'consentVersion', u.consent_version, 'deletedAt', u.deleted_at,
      'sessions', ${jsonList(sql`SELECT created_at AS "startedAt", used_at AS "usedAt", user_agent AS browser,
        user_agent_version AS version, os FROM sessions WHERE user_id = u.id ORDER BY created_at`)},
      'knownBrowsers', ${jsonList(sql`SELECT encode(client_hash, 'hex') AS fingerprint, used_at AS "usedAt"
        FROM known_clients WHERE user_id = u.id ORDER BY used_at`)},
      'formerEmails', ${jsonList(sql`SELECT old_email AS email, expires_at AS "keptUntil"
        FROM email_changes WHERE user_id = u.id AND passkey_id IS NULL ORDER BY number`)},
      'passkeys', ${jsonList(sql`SELECT name, created_at AS "addedAt", used_at AS "usedAt", removed_at AS "removedAt",
        is_synced AS "isSynced", is_backed_up AS "isBackedUp" FROM passkeys WHERE user_id = u.id ORDER BY id`)},
      'formerUsernames', ${jsonList(sql`SELECT name, released_at AS "releasedAt"
        FROM released_usernames WHERE user_id = u.id ORDER BY released_at`)},
      'block', (SELECT json_build_object('reason', reason, 'since', created_at, 'until', until)
        FROM blocks WHERE user_id = u.id),
      'answers', (SELECT json_build_object('seen', seen_no, 'received', last_no, 'wantsMail', wants_mail)
        FROM answer_states WHERE user_id = u.id),
      'mentionedIn', ARRAY(SELECT post_id::text FROM mentions WHERE user_id = u.id ORDER BY post_id),
      'repliesToMutedPosts', ARRAY(SELECT post_id::text FROM muted_replies WHERE recipient_id = u.id ORDER BY post_id),
      'mutedPosts', ARRAY(SELECT id::text FROM posts WHERE owner_id = u.id AND is_muted ORDER BY id),
      'mutedUsers', ${jsonList(sql`SELECT muted_id::text AS "userId", created_at AS "mutedAt", until
        FROM mutes WHERE user_id = u.id ORDER BY created_at`)},
      'reports', ${jsonList(sql`SELECT r.post_id::text AS "postId", reason.name AS reason, r.comment,
        r.created_at AS "reportedAt", r.state FROM reports r
        JOIN report_reasons reason ON reason.id = r.reason_id WHERE r.reporter_id = u.id ORDER BY r.id`)},
      'appeals', ${jsonList(sql`SELECT post_id::text AS "postId", text, created_at AS "appealedAt", state
        FROM appeals WHERE user_id = u.id ORDER BY created_at`)}
    ) AS account FROM users u WHERE u.id = ${userId}`.execute(db)
  return rows[0]?.account
}

function jsonList(rows: ReturnType<typeof sql>) {
  return sql`(SELECT coalesce(json_agg(row), '[]') FROM (${rows}) row)`
}

export type ExportedPost = Required<PostBody> & {
  id: string
  publishedAt: string
  isModified: boolean
  modifiedAt: string | null
  repliedPostId: string | null
  clarificationId: string | null
  likes: number
  replies: number
  /** Why the post is not on the site; null if it is. */
  archived: string | null
}

type From = { after: string } | { before: string; limit: number }

/** Returns a user's next posts after or before a post, in that order, including hidden posts. */
export async function selectOwnPosts(
  db: Queryable,
  userId: string,
  from: From,
): Promise<ExportedPost[]> {
  const [isNext, order, limit] =
    'after' in from
      ? [sql`id > ${from.after}::bigint`, sql`own.id`, STEP]
      : [sql`id < ${from.before}::bigint`, sql`own.id DESC`, sql`${from.limit}`]
  const next = (isIn: string) => sql`(
    SELECT * FROM posts own WHERE owner_id = ${userId}::bigint AND ${isNext} AND ${sql.raw(isIn)}
      AND text <> ''
    ORDER BY ${order} LIMIT ${limit})`
  // One part per index of a user's posts. Posts without a text are being deleted for good.
  const parts = [
    'hidden_for IS NULL AND replied_post_id IS NULL',
    'hidden_for IS NULL AND replied_post_id IS NOT NULL',
    'hidden_for IS NOT NULL',
  ]
  const { rows } = await sql<ExportedPost>`
    SELECT id::text, ${sql.join(WRITTEN_FIELD_NAMES.map((field) => sql.ref(field)))}, created_at AS "publishedAt",
      is_modified AS "isModified", modified_at AS "modifiedAt", replied_post_id::text AS "repliedPostId",
      clarification_id::text AS "clarificationId",
      likes_count AS likes, replies_count AS replies,
      CASE hidden_for WHEN 'reported' THEN 'hidden' ELSE hidden_for END AS archived
    FROM (${sql.join(parts.map(next), sql` UNION ALL `)}) own
    ORDER BY ${order} LIMIT ${limit}`.execute(db)
  return rows
}

/** The last row that was read of a list; the next statement continues after it. */
type Last = { id: string; at?: string }

type ExportedList = {
  /** What the page that people read says about the file, as a sentence continues. */
  about: string
  /** Selects the next rows of the list, each with its position. */
  next: (userId: string, last: Last) => RawBuilder<Last>
}

export const EXPORTED_LISTS: Record<string, ExportedList> = {
  'likes.json': {
    about: 'отметки «Нравится»',
    // A like is archived if its post is hidden or the user has left.
    next: (userId, { id }) => sql`
    SELECT id::text, post_id::text AS "postId", created_at AS "likedAt",
      user_left OR (SELECT hidden_for FROM posts WHERE posts.id = post_id) IS NOT NULL AS "isArchived"
    FROM likes WHERE user_id = ${userId}::bigint AND id > ${id}::bigint ORDER BY likes.id LIMIT ${STEP}`,
  },
  'decisions.json': {
    about: 'решения о вас и ваших записях',
    // The moderator's name is left out, because it is the moderator's own data.
    next: (userId, { id }) => sql`
    SELECT id::text, at, action, post_id::text AS "postId", reason, details->>'text' AS text
    FROM journal WHERE user_id = ${userId}::bigint AND id > ${id}::bigint ORDER BY journal.id LIMIT ${STEP}`,
  },
  'addresses.json': {
    about: 'сетевые адреса, если сайт обязан их хранить,',
    next: (userId, { at = '-infinity', id }) => sql`
    SELECT id::text, to_json(at)#>>'{}' AS at, action, post_id::text AS "postId", address, port
    FROM access_journal WHERE user_id = ${userId}::bigint AND (at, id) > (${at}::timestamptz, ${id}::bigint)
    ORDER BY access_journal.at, access_journal.id LIMIT ${STEP}`,
  },
}
