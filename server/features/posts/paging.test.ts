import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { FROM_OLDEST } from '../../../contract/constants.ts'
import { oppositeCursor } from '../../../contract/pages.ts'
import type { PostPage } from '../../../contract/posts.ts'
import { seedLikes, seedWall } from '../../testing/seed.ts'
import { appForFile } from '../../testing/test-app.ts'

/** Pages from 1,000 to 1,100 are counted from the top, later ones are read from the far end. */
const WALL = 2200
const LIMIT = 50

const app = await appForFile()
const [olga, petr] = [await app.signUp(), await app.signUp()]
await seedWall(app.db, olga.id, WALL)
await seedLikes(app.db, petr.id)

const wall = sql`SELECT id FROM posts WHERE replied_post_id IS NULL ORDER BY id DESC`
const replies = sql`SELECT id FROM posts WHERE replied_post_id IS NOT NULL ORDER BY id DESC`
const liked = sql`SELECT post_id AS id FROM likes WHERE user_id = ${petr.id} ORDER BY likes.id DESC`

test.each([
  ['the wall', '/posts?', undefined, wall],
  ['the posts of one owner', `/posts?userId=${olga.id}&`, undefined, wall],
  ['liked posts, by the time of the like', '/posts?filter=liked&', petr.token, liked],
  ['own replies', '/posts/replies?', olga.token, replies],
  ['the replies to a post', '/posts/1/replies?', undefined, replies],
])(
  '%s: pages and cursors equal a naive query at any depth, in both directions',
  async (...list) => {
    const [, path, token, query] = list
    const { rows } = await query.execute(app.db)
    const all = (rows as { id: string }[]).map(({ id }) => id)
    const read = async (place: string): Promise<{ page: PostPage; ids: string[] }> => {
      const { body } = await app.call('GET', `${path}limit=${LIMIT}&${place}`, { token })
      return { page: body, ids: body.posts.map(({ id }: { id: string }) => id) }
    }
    const lastPage = Math.ceil(all.length / LIMIT)
    for (let number = 1; number <= lastPage + 1; number++) {
      const [from, to] = [(number - 1) * LIMIT, number * LIMIT]
      const { page, ids } = await read(`page=${number}`)
      expect(ids).toEqual(all.slice(from, to))
      expect(page).toMatchObject({ firstPage: 1, lastPage, total: all.length })
      const { nextCursor } = page
      expect(nextCursor === null, `page ${number} has no next`).toBe(to >= all.length)
      if (nextCursor === null || (number % 8 !== 1 && number !== lastPage - 1)) continue
      const after = await read(`cursor=${nextCursor}`)
      expect(after.ids).toEqual(all.slice(to, to + LIMIT))
      expect(after.page.nextCursor === null).toBe(number === lastPage - 1)
      expect((await read(`cursor=${oppositeCursor(nextCursor)}`)).ids).toEqual(ids.toReversed())
    }
    let next: string | null = FROM_OLDEST
    for (let from = 0; next !== null; from += LIMIT) {
      const { page, ids } = await read(`cursor=${next}`)
      expect(ids).toEqual(all.toReversed().slice(from, from + LIMIT))
      next = page.nextCursor
      expect(next === null).toBe(from + LIMIT >= all.length)
    }
  },
)

test('a limit that does not divide the total gives the same posts, around the middle and the far end', async () => {
  const all = (await wall.execute(app.db)).rows as { id: string }[]
  for (const page of [31, 32, 33, 34, 35, 60, 66, 67]) {
    const { body } = await app.call('GET', `/posts?limit=33&page=${page}`)
    expect(body.posts.map(({ id }: { id: string }) => id)).toEqual(
      all.slice((page - 1) * 33, page * 33).map(({ id }) => id),
    )
    expect(body.lastPage).toBe(67)
  }
})
