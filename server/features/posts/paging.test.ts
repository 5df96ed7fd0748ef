import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { FROM_OLDEST } from '../../../contract/constants.ts'
import { oppositeCursor } from '../../../contract/pages.ts'
import type { PostPage } from '../../../contract/posts.ts'
import { seedLikes, seedWall } from '../../testing/database/seed.ts'
import { appForFile } from '../../testing/test-app.ts'

/** Pages from 1,000 to 1,100 are counted from the top, later ones are read from the far end. */
const WALL = 2200

const app = await appForFile()
const [olga, petr] = [await app.signUp(), await app.signUp()]
await seedWall(app.db, olga.id, WALL)
await seedLikes(app.db, petr.id)
await app.sql`UPDATE posts SET recipient_id = ${petr.id}, received_no = 2 * id
  WHERE replied_post_id IS NOT NULL`

const wall = sql`SELECT id FROM posts WHERE replied_post_id IS NULL ORDER BY id DESC`
const replies = sql`SELECT id FROM posts WHERE replied_post_id IS NOT NULL ORDER BY id DESC`
const liked = sql`SELECT post_id AS id FROM likes WHERE user_id = ${petr.id} ORDER BY likes.id DESC`

test.each([
  ['the wall', '/posts?', undefined, wall, 50],
  ['the wall, with a limit that does not divide the total', '/posts?', undefined, wall, 33],
  ['the posts of one owner', `/posts?userId=${olga.id}&`, undefined, wall, 50],
  ['liked posts, by the time of the like', '/posts?filter=liked&', petr, liked, 50],
  ['own replies', '/posts/replies?', olga, replies, 50],
  ['received replies, by their number', '/posts/replies/received?', petr, replies, 50],
  ['the replies to a post', '/posts/1/replies?', undefined, replies, 50],
])(
  '%s: pages and cursors equal a naive query at any depth, in both directions',
  async (...[, path, viewer, query, limit]) => {
    const { rows } = await query.execute(app.db)
    const all = (rows as { id: string }[]).map(({ id }) => id)
    const read = async (place: string): Promise<{ page: PostPage; ids: string[] }> => {
      const page: PostPage = await app.read(`${path}limit=${limit}&${place}`, viewer)
      return { page, ids: page.posts.map(({ id }) => id) }
    }
    const lastPage = Math.ceil(all.length / limit)
    for (let number = 1; number <= lastPage + 1; number++) {
      const [from, to] = [(number - 1) * limit, number * limit]
      const { page, ids } = await read(`page=${number}`)
      expect(ids).toEqual(all.slice(from, to))
      expect(page).toMatchObject({ firstPage: 1, lastPage, total: all.length })
      const { nextCursor } = page
      expect(nextCursor === null, `page ${number} has no next`).toBe(to >= all.length)
      if (nextCursor === null || (number % 8 !== 1 && number !== lastPage - 1)) continue
      const after = await read(`cursor=${nextCursor}`)
      expect(after.ids).toEqual(all.slice(to, to + limit))
      expect(after.page.nextCursor === null).toBe(number === lastPage - 1)
      expect((await read(`cursor=${oppositeCursor(nextCursor)}`)).ids).toEqual(ids.toReversed())
    }
    let next: string | null = FROM_OLDEST
    for (let from = 0; next !== null; from += limit) {
      const { page, ids } = await read(`cursor=${next}`)
      expect(ids).toEqual(all.toReversed().slice(from, from + limit))
      next = page.nextCursor
      expect(next === null).toBe(from + limit >= all.length)
    }
  },
)
