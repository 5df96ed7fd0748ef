import { expect, test } from 'vitest'
import { FROM_OLDEST } from '../../../contract/constants.ts'
import { oppositeCursor } from '../../../contract/pages.ts'
import type { PostPage } from '../../../contract/posts.ts'
import { seedLikes, seedWall } from '../../testing/database/seed.ts'
import { allEndpoints } from '../../testing/http/endpoints.ts'
import { appForFile } from '../../testing/test-app.ts'
import { listAddress, PAGED_LISTS } from './lists.fixture.ts'

/** Pages from 1,000 to 1,100 are counted from the top, later ones are read from the far end. */
const WALL = 2200

const app = await appForFile()
const me = await app.signUp()
await seedWall(app.db, me.id, WALL)
await seedLikes(app.db, me.id)
await app.sql`UPDATE posts SET recipient_id = ${me.id}, received_no = 2 * id
  WHERE replied_post_id IS NOT NULL`

test.each(
  Object.entries(PAGED_LISTS).flatMap(([call, { ids }]) => [
    { call, ids, limit: 50 },
    // Divides no total.
    ...(call === 'GET /posts' ? [{ call, ids, limit: 33 }] : []),
  ]),
)(
  '$call by $limit: pages and cursors equal a naive query at any depth, in both directions',
  async ({ call, ids, limit }) => {
    const { rows } = await ids(me.id).execute(app.db)
    const all = (rows as { id: string }[]).map(({ id }) => id)
    const address = listAddress(call, me.id, '1')
    const read = async (place: string): Promise<{ page: PostPage; ids: string[] }> => {
      const page: PostPage = await app.read(`${address}limit=${limit}&${place}`, me)
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

test('every list that the API reads in pages is in the table of lists', async () => {
  const paged = [...(await allEndpoints())].filter(
    ([, { answer }]) =>
      /"posts":/.test(JSON.stringify(answer)) && /"lastPage":/.test(JSON.stringify(answer)),
  )
  const inTable = new Set(Object.keys(PAGED_LISTS).map((call) => call.split('?')[0]))
  expect(paged.map(([call]) => call).sort()).toEqual([...inTable].sort())
})
