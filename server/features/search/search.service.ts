import { PAGE_SIZE } from '../../../contract/constants.ts'
import { type FoundPage, searchPosts } from '../../../contract/search.ts'
import { type Db, isRowId, NO_USER } from '../../kernel/db/database.ts'
import { errorCode } from '../../kernel/db/database-errors.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import type { Node } from '../../kernel/feature.ts'
import { Gate } from '../../kernel/gate/gate.ts'
import type { Limit } from '../../kernel/limits/limits.ts'
import { widestNetworkOf } from '../../kernel/limits/limits.ts'
import { type PostViewer, readPosts } from '../posts/hydrate-posts.ts'
import { parseSearch, selectFound, selectFoundWords } from './search.repository.ts'

const SEARCH_MS = 300
const CANCELED = '57014'

const SEARCHES: Limit = {
  name: 'search',
  rates: [[10, 10]],
  refusal: 'Из вашей сети ищут слишком часто: следующий поиск — через {time}',
}

export type Search = (
  query: { q: string; limit?: number; cursor?: string },
  by: { viewer: PostViewer; ip: string },
) => Promise<FoundPage>

/** Serves the search, which keeps nothing of what people search for, and returns it for pages. */
export function registerSearch({ route, db, limits }: Node): Search {
  const searches = new Gate({
    running: 4,
    each: 3,
    waiting: 32,
    waitMs: 1000,
    message: 'Сейчас ищут многие. Попробуйте ещё раз через несколько секунд',
  })
  const search: Search = async ({ q, limit = PAGE_SIZE, cursor }, { viewer, ip }) => {
    await limits.charge([{ limit: SEARCHES, ip }])
    if (cursor !== undefined && !isRowId(cursor)) throw new AppError('INVALID_REQUEST')
    const { ids, nextCursor, words } = await searches.run(
      () => find(db, { q, cursor, limit, viewerId: viewer?.userId ?? NO_USER }),
      widestNetworkOf(ip),
    )
    return { posts: await readPosts(db, ids, viewer), nextCursor, words }
  }
  route(searchPosts, ({ query, viewer }, { request }) => search(query, { viewer, ip: request.ip }))
  return search
}

type Page = { q: string; cursor: string | undefined; limit: number; viewerId: string }

async function find(db: Db, { q, cursor, limit, viewerId }: Page) {
  try {
    return await db.transaction().execute(async (tx) => {
      const search = await parseSearch(tx, q, SEARCH_MS)
      if (!search?.hasWords) throw noWords()
      const { query, newest } = search
      const before = cursor ?? `${BigInt(newest) + 1n}`
      const found = await selectFound(tx, { query, before, count: limit + 1, viewerId })
      const ids = found.slice(0, limit)
      return {
        ids,
        nextCursor: found.length > limit ? (ids.at(-1) ?? null) : null,
        words: await selectFoundWords(tx, query, ids),
      }
    })
  } catch (error) {
    throw errorCode(error) === CANCELED ? new AppError('QUERY_TOO_BROAD') : error
  }
}

function noWords(): AppError {
  return new AppError('INVALID_REQUEST', {
    message: 'Добавьте слово, которое должно быть в записи: по одним служебным не найти',
  })
}
