import { sql } from 'kysely'
import { parsePostText } from '../contract/text.ts'
import { insertUser } from '../server/features/account/account.repository.ts'
import type { Db } from '../server/kernel/db/database.ts'
import { PEOPLE, type Person, WALL_POSTS, type WallPost } from './wall-post.ts'

/** For so long the wall shows the same ages. */
const HALF_MINUTE_MS = 30_000
const MINUTE_MS = 60_000
/** In minutes before now. */
const SIGNED_UP = 11 * 7 * 24 * 60

/** `rootId` is the first post of the thread: the row's own id for a post of the wall. */
type Row = { id: string; rootId: string }
export type PersonIds = Map<Person, string>

/** Fills an empty wall, backdated from `now`, by SQL: no service publishes in the past. */
export async function fillWall(db: Db, now: Date): Promise<PersonIds> {
  const people: PersonIds = new Map()
  for (const username of PEOPLE) {
    const user = await insertUser(db, { username, email: `${username}@example.org` })
    if (!user) throw new Error(`${username} is on this wall already: the demo needs an empty one`)
    people.set(username, user.id)
  }
  const signedUp = new Date(now.getTime() - SIGNED_UP * MINUTE_MS)
  await sql`UPDATE users SET created_at = ${signedUp}`.execute(db)

  const added = new Map<WallPost, Row>()
  for (const [index, post] of WALL_POSTS.entries()) {
    const at = new Date(now.getTime() - post.ago * MINUTE_MS - HALF_MINUTE_MS)
    const parent = post.replied && added.get(post.replied)
    const text = parsePostText(post.text)
    const { rows } = await sql<{ id: string }>`
      INSERT INTO posts (owner_id, text, created_at, is_modified, replied_post_id, parent_post_id)
      VALUES (${people.get(post.by)}, ${text}, ${at}, ${post.isEdited}, ${parent?.id}, ${parent?.rootId})
      RETURNING id`.execute(db)
    const id = rows[0]?.id ?? ''
    added.set(post, { id, rootId: parent?.rootId ?? id })
    const fans = fansOf(post, index).map((name) => people.get(name))
    await sql`INSERT INTO likes (post_id, user_id, created_at)
      SELECT ${id}, fan, ${at}::timestamptz + (${now} - ${at}::timestamptz) / 2
      FROM unnest(${fans}::bigint[]) fan`.execute(db)
  }
  await numberReceived(db)
  return people
}

/** Numbers the received replies, and leaves the newest of each person unread. */
async function numberReceived(db: Db): Promise<void> {
  await sql`WITH numbered AS (
      UPDATE posts SET recipient_id = received.by, received_no = received.no
      FROM (
        SELECT reply.id, replied.owner_id AS by,
          row_number() OVER (PARTITION BY replied.owner_id ORDER BY reply.created_at, reply.id) AS no
        FROM posts reply JOIN posts replied ON replied.id = reply.replied_post_id
        WHERE reply.owner_id <> replied.owner_id
      ) received
      WHERE posts.id = received.id RETURNING recipient_id
    )
    INSERT INTO answer_states (user_id, last_no, seen_no, mailed_no)
    SELECT recipient_id, count(*), count(*) - 1, count(*) FROM numbered GROUP BY recipient_id`.execute(
    db,
  )
}

/** Returns people other than the author, who differ from one post to the next. */
function fansOf({ by, likes }: WallPost, index: number): Person[] {
  const others = PEOPLE.filter((name) => name !== by)
  const first = index % others.length
  return [...others.slice(first), ...others.slice(0, first)].slice(0, likes)
}
