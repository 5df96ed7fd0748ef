import { sql } from 'kysely'
import { insertUser } from '../server/account/account.repository.ts'
import type { Db } from '../server/db/database.ts'
import { batchLikes } from '../server/likes/likes.service.ts'
import { editPost, publishPost, publishReply, requireText } from '../server/posts/posts.service.ts'
import { DAYS_BEFORE } from './days-before.ts'
import { TODAY } from './today.ts'
import { PEOPLE, type Person, type WallPost, WEEK } from './wall-post.ts'

/** Longer than filling the wall takes. */
const EDIT_SECONDS = 600
/** Ages end in half a minute, so that the wall shows the same ages for half a minute after it was filled. */
const HALF_MINUTE_MS = 30_000
const MINUTE_MS = 60_000
/** When the people of the demo signed up, in minutes before now: before the oldest post. */
const SIGNED_UP = 11 * WEEK

/** A post, and the one that it answers; undefined on the wall. */
type Placed = { post: WallPost; replied: WallPost | undefined }
/** The ids of the people in the database. */
export type PersonIds = Map<Person, string>

/** All posts and replies of the demo, the oldest first. */
export const PLACED: Placed[] = placeAll([...TODAY, ...DAYS_BEFORE], undefined).sort(
  (one, other) => other.post.ago - one.post.ago,
)

/**
 * Fills an empty wall with the people and the posts of the demo, dated back from `now`. It publishes through the services,
 * so that every counter is right, and changes the dates afterwards. Returns the ids of the people.
 */
export async function fillWall(db: Db, now: Date): Promise<PersonIds> {
  const people: PersonIds = new Map()
  for (const name of PEOPLE) people.set(name, await addPerson(db, name))
  const like = batchLikes(db, async () => {})
  const postIds = new Map<WallPost, string>()
  for (const [index, { post, replied }] of PLACED.entries()) {
    const repliedId = replied && idOf(postIds, replied)
    const id = await publish(db, { ...post, ownerId: idOf(people, post.by), repliedId })
    postIds.set(post, id)
    for (const name of fansOf(post, index)) {
      await like(id, { userId: idOf(people, name), isLiked: true })
    }
  }
  await dateBack(db, postIds, now)
  return people
}

function placeAll(posts: WallPost[], replied: WallPost | undefined): Placed[] {
  return posts.flatMap((post) => [{ post, replied }, ...placeAll(post.replies ?? [], post)])
}

async function addPerson(db: Db, username: Person): Promise<string> {
  const user = await insertUser(db, { username, email: `${username}@example.org` })
  if (!user) throw new Error(`${username} is on this wall already: the demo needs an empty one`)
  return user.id
}

type Publication = WallPost & { ownerId: string; repliedId: string | undefined }

/** Returns the id of the post. */
async function publish(db: Db, { ownerId, repliedId, text, before }: Publication): Promise<string> {
  const newPost = { ownerId, text: requireText(before ?? text), idempotencyKey: undefined }
  const { post } = await (repliedId
    ? publishReply(db, repliedId, newPost)
    : publishPost(db, newPost))
  const edit = { id: post.id, ownerId, text: requireText(text), periodSeconds: EDIT_SECONDS }
  if (before) await editPost(db, edit)
  return post.id
}

/** Who likes a post: others than its author, and from one post to the next not the same. */
function fansOf({ by, likes = 0 }: WallPost, index: number): Person[] {
  const others = PEOPLE.filter((name) => name !== by)
  const first = index % others.length
  return [...others.slice(first), ...others.slice(0, first)].slice(0, likes)
}

async function dateBack(db: Db, postIds: Map<WallPost, string>, now: Date): Promise<void> {
  const ids = [...postIds.values()]
  const dates = [...postIds.keys()].map(
    ({ ago }) => new Date(now.getTime() - ago * MINUTE_MS - HALF_MINUTE_MS),
  )
  await sql`UPDATE posts SET created_at = date
    FROM unnest(${ids}::bigint[], ${dates}::timestamptz[]) dated (post_id, date)
    WHERE id = post_id`.execute(db)
  await sql`UPDATE likes SET created_at = p.created_at + (${now} - p.created_at) / 2
    FROM posts p WHERE p.id = post_id`.execute(db)
  const signedUp = new Date(now.getTime() - SIGNED_UP * MINUTE_MS)
  await sql`UPDATE users SET created_at = ${signedUp}`.execute(db)
}

function idOf<T>(ids: Map<T, string>, of: T): string {
  const id = ids.get(of)
  if (id === undefined) throw new Error('the demo has no such person or post')
  return id
}
