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
const NO_WORDS = 'Добавьте слово, которое должно быть в записи: по одним служебным не найти'

/** Enough for five people behind one address who search eight times each. */
const VISITOR_SEARCHES: Limit = {
  name: 'visitor-search',
  rates: [[40, 40]],
  refusal: 'Из вашей сети ищут слишком часто: следующий поиск — через {time}',
}

const USER_SEARCHES: Limit = {
  name: 'user-search',
  rates: [[10, 10]],
  refusal: 'Вы ищете слишком часто: следующий поиск — через {time}',
}

export type Search = (
  query: { q: string; limit?: number; cursor?: string },
  by: { viewer: PostViewer; ip: string },
) => Promise<FoundPage>

/** Registers the search, and returns it for pages. What people search for is not stored. */
export function registerSearch({ route, db, limits }: Node): Search {
  const searches = new Gate({
    running: 4,
    each: 3,
    waiting: 32,
    waitMs: 1000,
    message: 'Сейчас ищут многие. Попробуйте ещё раз через несколько секунд',
  })
  const search: Search = async ({ q, limit = PAGE_SIZE, cursor }, { viewer, ip }) => {
    await limits.charge([
      viewer ? { limit: USER_SEARCHES, key: viewer.userId } : { limit: VISITOR_SEARCHES, ip },
    ])
    const { isSimilar, before } = placeOf(cursor)
    const page = { q, before, limit, viewerId: viewer?.userId ?? NO_USER }
    const { ids, similar, nextCursor, words } = await searches.run(
      () => (isSimilar ? findSimilar(db, page) : find(db, page)),
      widestNetworkOf(ip),
    )
    return { posts: await readPosts(db, ids, viewer), nextCursor, words, similar }
  }
  route(searchPosts, ({ query, viewer }, { request }) => search(query, { viewer, ip: request.ip }))
  return search
}

const SIMILAR = 'similar-'

function placeOf(cursor = ''): { isSimilar: boolean; before: string | undefined } {
  const isSimilar = cursor.startsWith(SIMILAR)
  const id = isSimilar ? cursor.slice(SIMILAR.length) : cursor
  if (cursor !== '' && !isRowId(id)) throw new AppError('INVALID_REQUEST')
  return { isSimilar, before: id || undefined }
}

type Page = { q: string; before: string | undefined; limit: number; viewerId: string }
type FoundIds = Omit<FoundPage, 'posts'> & { ids: string[] }

/** Finds posts by forms of the words. Similar words fill the rest of the first page. */
async function find(db: Db, page: Page): Promise<FoundIds> {
  const { mayBegin, ...forms } = await findPart(db, page, { isSimilar: false })
  const room = page.limit - forms.ids.length
  if (page.before !== undefined || room === 0 || !mayBegin) return { ...forms, similar: [] }
  const { ids, ...rest } = await findSimilar(db, { ...page, limit: room }).catch(asNothing)
  return { ...rest, ids: [...forms.ids, ...ids], words: [...forms.words, ...rest.words] }
}

async function findSimilar(db: Db, page: Page): Promise<FoundIds> {
  const { nextCursor, ...part } = await findPart(db, page, { isSimilar: true })
  return { ...part, similar: part.ids, nextCursor: nextCursor && SIMILAR + nextCursor }
}

const NOTHING: FoundIds = { ids: [], similar: [], words: [], nextCursor: null }

async function findPart(
  db: Db,
  { q, before, limit, viewerId }: Page,
  { isSimilar }: { isSimilar: boolean },
) {
  try {
    return await db.transaction().execute(async (tx) => {
      const search = await parseSearch(tx, q, SEARCH_MS)
      if (!search?.hasWords) throw new AppError('INVALID_REQUEST', { message: NO_WORDS })
      const { forms, begun, newest } = search
      const query = isSimilar ? begun : forms
      const mayBegin = begun !== null
      if (query === null) return { ...NOTHING, mayBegin }
      const from = { before: before ?? `${BigInt(newest) + 1n}`, count: limit + 1, viewerId }
      const found = await selectFound(tx, { query, ...(isSimilar && { except: forms }), ...from })
      const ids = found.slice(0, limit)
      return {
        ids,
        nextCursor: found.length > limit ? (ids.at(-1) ?? null) : null,
        words: await selectFoundWords(tx, query, ids),
        mayBegin,
      }
    })
  } catch (error) {
    throw errorCode(error) === CANCELED ? new AppError('QUERY_TOO_BROAD') : error
  }
}

function asNothing(error: unknown): FoundIds {
  if (error instanceof AppError && error.code === 'QUERY_TOO_BROAD') return NOTHING
  throw error
}
