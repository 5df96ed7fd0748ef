import { PAGE_SIZE } from '../../../contract/constants.ts'
import { type SearchPage, searchPosts } from '../../../contract/search.ts'
import type { SearchScope } from '../../../contract/search-rules.ts'
import { type Db, isRowId, NO_USER, type Queryable } from '../../kernel/db/database.ts'
import { errorCode } from '../../kernel/db/database-errors.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import { Gate } from '../../kernel/gate/gate.ts'
import type { Limit } from '../../kernel/limits/limits.ts'
import { widestNetworkOf } from '../../kernel/limits/limits.ts'
import type { ServerContext } from '../../kernel/server-context.ts'
import { type PostViewer, readPosts } from '../posts/hydrate-posts.ts'
import { invalidCursorError } from '../posts/post-lists.ts'
import {
  parseSearch,
  selectMatchedWords,
  selectMatches,
  selectSource,
} from './search.repository.ts'

const SEARCH_MS = 300
const CANCELED = '57014'
/** How many searches one that ends by its time limit counts as. */
const TOO_LONG_COSTS = 5
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
  query: { q: string; scope?: SearchScope; limit?: number; cursor?: string },
  by: { viewer: PostViewer; ip: string },
) => Promise<SearchPage>

/** Registers the search, and returns it for pages. What people search for is not stored. */
export function registerSearch({ route, db, limits }: ServerContext): Search {
  const searches = new Gate({
    running: 4,
    each: 3,
    waiting: 32,
    waitMs: 1000,
    message: 'Сейчас ищут многие. Попробуйте ещё раз через несколько секунд',
  })
  const search: Search = async ({ q, scope, limit = PAGE_SIZE, cursor }, { viewer, ip }) => {
    if (scope && !viewer) throw new AppError('UNAUTHORIZED')
    const charge = viewer
      ? { limit: USER_SEARCHES, key: viewer.userId }
      : { limit: VISITOR_SEARCHES, ip }
    await limits.charge([charge])
    const page = { ...parseCursor(cursor), q, scope, limit, viewerId: viewer?.userId ?? NO_USER }
    const onTooLong = async () => {
      await limits.tryCharge(Array(TOO_LONG_COSTS - 1).fill(charge))
    }
    const { ids, similar, nextCursor, words } = await searches.run(
      () => find(db, page, onTooLong),
      widestNetworkOf(ip),
    )
    return { posts: await readPosts(db, ids, viewer), nextCursor, words, similar }
  }
  route(searchPosts, ({ query, viewer }, { request }) => search(query, { viewer, ip: request.ip }))
  return search
}

const SIMILAR = 'similar-'

function parseCursor(cursor = ''): { continuesSimilar: boolean; before: string | undefined } {
  const continuesSimilar = cursor.startsWith(SIMILAR)
  const id = continuesSimilar ? cursor.slice(SIMILAR.length) : cursor
  if (cursor !== '' && !isRowId(id)) throw invalidCursorError()
  return { continuesSimilar, before: id || undefined }
}

type Page = ReturnType<typeof parseCursor> & {
  q: string
  scope: SearchScope | undefined
  limit: number
  viewerId: string
}
type Part = Pick<SearchPage, 'words' | 'nextCursor'> & { ids: string[] }

const NOTHING: Part = { ids: [], words: [], nextCursor: null }

/**
 * Finds posts by forms of the words. Similar words fill the rest of the first page, unless they take
 * too long: a cancelled statement ends its transaction, so what was found before is kept outside.
 */
async function find(
  db: Db,
  page: Page,
  onTooLong: () => Promise<void>,
): Promise<Part & { similar: string[] }> {
  const exact = { ...NOTHING }
  try {
    return await db.transaction().execute((tx) => findWithin(tx, page, exact))
  } catch (error) {
    const isTooBroad = error instanceof AppError && error.code === 'QUERY_TOO_BROAD'
    const isTooLong = errorCode(error) === CANCELED
    if (!isTooBroad && !isTooLong) throw error
    if (isTooLong) await onTooLong()
    if (exact.ids.length === 0) throw new AppError('QUERY_TOO_BROAD')
    return { ...exact, similar: [] }
  }
}

/** Finds forms of the words, which it puts into `exact`, and similar words in the room that is left. */
async function findWithin(
  tx: Queryable,
  { q, scope, continuesSimilar, before, limit, viewerId }: Page,
  exact: Part,
) {
  const search = await parseSearch(tx, q, SEARCH_MS)
  if (!search?.hasWords) throw new AppError('INVALID_REQUEST', { message: NO_WORDS })
  const { forms, begun, newest } = search
  const source = await selectSource(tx, scope, viewerId)
  const from = { before: before ?? `${BigInt(newest) + 1n}`, viewerId, source }
  if (!continuesSimilar) Object.assign(exact, await findPart(tx, { ...from, query: forms }, limit))
  const room = limit - exact.ids.length
  const mayBegin = begun !== null && (continuesSimilar || before === undefined)
  if (!mayBegin || room === 0) return { ...exact, similar: [] }
  const part = await findPart(tx, { ...from, query: begun, except: forms }, room)
  return {
    ids: [...exact.ids, ...part.ids],
    similar: part.ids,
    words: [...exact.words, ...part.words],
    nextCursor: part.nextCursor && SIMILAR + part.nextCursor,
  }
}

async function findPart(
  tx: Queryable,
  search: Omit<Parameters<typeof selectMatches>[1], 'count'>,
  limit: number,
): Promise<Part> {
  const found = await selectMatches(tx, { ...search, count: limit + 1 })
  const ids = found.slice(0, limit)
  const nextCursor = found.length > limit ? (ids.at(-1) ?? null) : null
  return { ids, nextCursor, words: await selectMatchedWords(tx, search.query, ids) }
}
