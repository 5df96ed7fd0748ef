import { type RawBuilder, sql } from 'kysely'
import type { SearchScope } from '../../../contract/search-rules.ts'
import { foldWords } from '../../../contract/text.ts'
import { idArray, type Queryable } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import { nearStems } from './near-stems.ts'

/** A tsquery, and one without phrases that the index answers: it finds at least the same posts. */
export type Query = { exact: string; indexed: string }
/** `forms` finds the words in all forms; in `begun` the last word is a beginning. */
type ParsedSearch = { forms: Query; begun: Query | null; hasWords: boolean; newest: string }
type Parsed = { forms: string; begun: string | null; newest: string } & Record<
  'formsTree' | 'begunTree',
  string
>

/** Parses a search, and limits each statement of its transaction to `ms` milliseconds. */
export async function parseSearch(
  tx: Queryable,
  q: string,
  ms: number,
): Promise<ParsedSearch | undefined> {
  const beginning = lastWord(q)
  const last = sql`plainto_tsquery('pg_catalog.russian', ${beginning})`
  const { rows } = await sql<Parsed>`
    SELECT forms::text, querytree(forms) AS "formsTree", newest,
      begun::text, querytree(begun) AS "begunTree",
      set_config('statement_timeout', ${`${ms}`}, true),
      set_config('enable_seqscan', 'off', true)
    FROM (SELECT websearch_to_tsquery('pg_catalog.russian', string_agg(
        CASE n % 2 WHEN 1 THEN search_text(part) ELSE part END, '' ORDER BY n)) AS forms
      FROM unnest(${partsOf(q)}::text[]) WITH ORDINALITY AS it (part, n)) parsed
    CROSS JOIN LATERAL (
      SELECT CASE WHEN numnode(${last}) > 0 THEN
        -- No stem: the beginning of a word is no word, and its stem would begin many others.
        ts_rewrite(forms, ${last}, (${beginning}::text || ':*')::tsquery)
      END AS begun
    ) begun
    CROSS JOIN (SELECT coalesce(max(id), 0) AS newest FROM posts) newest`.execute(tx)
  const [search] = rows
  if (!search) return undefined
  const { forms, formsTree, begun, begunTree, newest } = search
  return {
    forms: toQuery(forms, formsTree),
    begun: begun === null ? null : toQuery(begun, begunTree),
    hasWords: formsTree !== '' && formsTree !== 'T',
    newest,
  }
}

const PHRASES = /<(?:-|\d+)>/g

/** `tree` is the query without its negations, which must stay out if they contain phrases. */
function toQuery(query: string, tree: string): Query {
  const exact = inAllForms(query)
  const isIndexed = query.search(PHRASES) < 0
  return { exact, indexed: isIndexed ? exact : inAllForms(tree).replace(PHRASES, '&') }
}

/** Adds the near stems of each Russian word that is not a beginning. */
function inAllForms(query: string): string {
  return query.replace(/'([а-я]+)'(?!:)/g, (_, stem: string) => {
    const near = nearStems(stem).map((it) => `'${it}'`)
    return `(${near.join('|')})`
  })
}

/** Matches a last word of 5 letters or more: shorter words begin too many words. */
const LAST_WORD = /(?:^|\s)([\p{L}\p{N}]{5,})$/u

/** Matches the marks of a search: quotes, and a minus at the beginning of a word. */
const MARKS = /("|(?<![\p{L}\p{M}\p{N}"-])-(?=["\p{L}\p{N}]))/u

/**
 * Returns the words of a search and, at every second place, the marks between them. Only the
 * database knows how it has read the words of posts in all alphabets.
 */
function partsOf(q: string): string[] {
  return withPlainQuotes(q.normalize('NFC')).split(MARKS)
}

/** Returns the last word, which may be unfinished; null in a phrase, and after a minus. */
function lastWord(q: string): string | null {
  const words = withPlainQuotes(foldWords(q.normalize('NFC')))
    .replace(/[^\p{L}\p{N}"-]+/gu, ' ')
    .replace(/(?<=[^\s])-|-(?![\p{L}\p{N}"])/gu, ' ')
    .trim()
  const isInPhrase = words.split('"').length % 2 === 0
  return isInPhrase ? null : (LAST_WORD.exec(words)?.[1] ?? null)
}

const withPlainQuotes = (text: string) => text.replace(/[«»„“”]/g, '"')

/** What a search looks through: `from` are all posts or a few, `where` chooses among those with the words. */
type Source = {
  from: RawBuilder<unknown>
  where: RawBuilder<unknown>
  /** Whether it is small, and searched at once without the index of words. */
  isSmall: boolean
}

const EVERYTHING: Source = { from: sql`visible_posts`, where: sql``, isSmall: false }
/** How many posts a search parses at most; the time limit alone would let it take 300 ms. */
const PARSED_MAX = 1000

/**
 * Returns what the viewer wrote or liked. A few posts are named by their ids, because the planner would
 * begin with a frequent word instead.
 */
export async function selectSource(
  tx: Queryable,
  scope: SearchScope | undefined,
  viewerId: string,
): Promise<Source> {
  if (!scope) return EVERYTHING
  const limit = sql.lit(PARSED_MAX + 1)
  const ids = {
    own: sql`(SELECT id FROM visible_posts
        WHERE owner_id = ${viewerId}::bigint AND replied_post_id IS NULL LIMIT ${limit})
      UNION ALL (SELECT id FROM visible_posts
        WHERE owner_id = ${viewerId}::bigint AND replied_post_id IS NOT NULL LIMIT ${limit})`,
    liked: sql`SELECT post_id AS id FROM likes WHERE user_id = ${viewerId}::bigint LIMIT ${limit}`,
  }
  const { rows } = await sql<{ id: string }>`${ids[scope]}`.execute(tx)
  if (rows.length > PARSED_MAX) {
    // OFFSET 0 keeps the planner from reading all likes of the viewer.
    const isLiked = sql`AND EXISTS (SELECT FROM likes
      WHERE post_id = candidates.id AND user_id = ${viewerId}::bigint OFFSET 0)`
    const isOwn = sql`AND owner_id = ${viewerId}::bigint`
    return { ...EVERYTHING, where: scope === 'own' ? isOwn : isLiked }
  }
  const from = sql`(SELECT id, owner_id, text FROM visible_posts
    WHERE id = ANY (${idArray(rows.map(({ id }) => id))}::bigint[]) OFFSET 0) few`
  return { from, where: sql``, isSmall: true }
}

type MatchQuery = {
  query: Query
  source: Source
  except?: Query
  before: string
  count: number
  viewerId: string
}

/** First and last block of a range, counted back from the block of `before`; without `last`, all older ones. */
type Range = readonly [first: number, last?: number]
/** The ranges that are searched one after the other. */
const RANGES: readonly Range[] = [[0, 1], [2, 17], [18]]
const ALL_AT_ONCE: readonly Range[] = [[0]]
/** A block has 8192 ids, as in `search_words` of the schema. */
const BLOCK_BITS = 13n

/**
 * Returns the newest matching ids before `before`. Only rare words are searched in all posts. Throws
 * QUERY_TOO_BROAD if too many posts have the words but do not match.
 */
export async function selectMatches(tx: Queryable, search: MatchQuery): Promise<string[]> {
  const newestBlock = (BigInt(search.before) - 1n) >> BLOCK_BITS
  const found: string[] = []
  let left = PARSED_MAX
  for (const range of search.source.isSmall ? ALL_AT_ONCE : RANGES) {
    const [first, last] = range
    if (found.length >= search.count || BigInt(first) > newestBlock) break
    const endOfRange = (newestBlock - BigInt(first) + 1n) << BLOCK_BITS
    const before = last === undefined && first > 0 ? `${endOfRange}` : search.before
    const count = search.count - found.length
    const { ids, parsed } = await selectMatchesIn(tx, range, { ...search, before, count, left })
    found.push(...ids)
    left -= parsed
    if (left <= 0 && found.length < search.count) throw new AppError('QUERY_TOO_BROAD')
  }
  return found
}

/**
 * Selects candidates by the index, and parses the newest `left` of them until `count` match.
 * MATERIALIZED keeps the planner from walking along the ids, or along a user's posts, and parsing each text.
 */
async function selectMatchesIn(
  tx: Queryable,
  [first, last]: Range,
  { query, source, except, before, count, viewerId, left }: MatchQuery & { left: number },
): Promise<{ ids: string[]; parsed: number }> {
  const inBlocks =
    last === undefined
      ? sql``
      : sql`&& search_blocks(${before}::bigint - 1, ${sql.lit(first)}, ${sql.lit(last)})`
  const isNew = except ? sql`AND NOT search_words(id, text) @@ ${except.exact}::tsquery` : sql``
  const { rows } = await sql<{ ids: string[]; parsed: number }>`
    WITH candidates AS MATERIALIZED (
      SELECT id, owner_id FROM ${source.from}
      WHERE search_words(id, text) @@ (${query.indexed}::tsquery ${inBlocks})
    ), newest AS MATERIALIZED (
      SELECT id FROM candidates WHERE id < ${before}::bigint ${source.where}
      ORDER BY id DESC LIMIT ${left}
    )
    SELECT (SELECT count(*)::int FROM newest) AS parsed, ARRAY(
      SELECT id FROM newest
      WHERE (SELECT search_words(id, text) @@ ${query.exact}::tsquery FROM posts
        WHERE id = newest.id ${isNew} AND owner_id <> ALL (
          ARRAY(SELECT muted_id FROM mutes_in_force WHERE user_id = ${viewerId}::bigint)
        ))
      LIMIT ${count}
    )::text[] AS ids`.execute(tx)
  return rows[0] ?? { ids: [], parsed: 0 }
}

export async function selectMatchedWords(
  tx: Queryable,
  { exact }: Query,
  ids: string[],
): Promise<string[]> {
  const { rows } = await sql<{ word: string }>`
    SELECT DISTINCT word[1] AS word FROM visible_posts
    CROSS JOIN LATERAL regexp_matches(
      ts_headline('pg_catalog.russian', search_text(text), ${exact}::tsquery,
        'HighlightAll=true, StartSel=<, StopSel=>'),
      '<([^>]+)>', 'g') AS word
    WHERE id = ANY(${ids}::bigint[])`.execute(tx)
  return rows.map(({ word }) => word)
}
