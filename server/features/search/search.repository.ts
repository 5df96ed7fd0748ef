import { sql } from 'kysely'
import { foldWords } from '../../../contract/text.ts'
import type { Queryable } from '../../kernel/db/database.ts'
import { nearStems } from './near-stems.ts'

/** tsqueries: `forms` finds the words in all forms; in `begun` the last word is a beginning. */
type ParsedSearch = { forms: string; begun: string | null; hasWords: boolean; newest: string }

/** Parses a search, and limits each statement of its transaction to `ms` milliseconds. */
export async function parseSearch(
  tx: Queryable,
  q: string,
  ms: number,
): Promise<ParsedSearch | undefined> {
  const { text, beginning } = searchWords(q)
  const last = sql`plainto_tsquery('pg_catalog.russian', ${beginning})`
  const { rows } = await sql<ParsedSearch>`
    SELECT forms::text, querytree(forms) NOT IN ('', 'T') AS "hasWords", newest,
      CASE WHEN numnode(${last}) > 0 THEN
        -- No stem: the beginning of a word is no word, and its stem would begin many others.
        ts_rewrite(forms, ${last}, (${beginning}::text || ':*')::tsquery)::text
      END AS begun,
      set_config('statement_timeout', ${`${ms}`}, true),
      set_config('enable_seqscan', 'off', true)
    FROM (SELECT websearch_to_tsquery('pg_catalog.russian', ${text}) AS forms) parsed
    CROSS JOIN (SELECT coalesce(max(id), 0) AS newest FROM posts) newest`.execute(tx)
  const [search] = rows
  if (!search) return undefined
  const { forms, begun } = search
  return { ...search, forms: inAllForms(forms), begun: begun && inAllForms(begun) }
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

/** Leaves only words, quotes and leading minuses, as `search_text` in the database does. */
function searchWords(q: string): { text: string; beginning: string | null } {
  const text = foldWords(q.normalize('NFC'))
    .replace(/[«»„“”]/g, '"')
    .replace(/[^\p{L}\p{N}"-]+/gu, ' ')
    .replace(/(?<=[^\s])-|-(?![\p{L}\p{N}"])/gu, ' ')
    .trim()
  const isInPhrase = text.split('"').length % 2 === 0
  return { text, beginning: isInPhrase ? null : (LAST_WORD.exec(text)?.[1] ?? null) }
}

type MatchQuery = {
  query: string
  except?: string
  before: string
  count: number
  viewerId: string
}

/** The blocks that are searched first, counted back from the block of `before`. */
const RANGES = [
  [0, 1],
  [2, 17],
] as const
/** A block has 8192 ids, as in `search_words` of the schema. */
const BLOCK_BITS = 13n

/** Returns the newest matching ids before `before`. Only rare words are searched in all posts. */
export async function selectMatches(tx: Queryable, search: MatchQuery): Promise<string[]> {
  const blocksBefore = (BigInt(search.before) - 1n) >> BLOCK_BITS
  const found: string[] = []
  for (const blocks of RANGES) {
    found.push(...(await selectMatchesIn(tx, blocks, search)))
    const isEnough = found.length >= search.count || blocks[1] >= blocksBefore
    if (isEnough) return found.slice(0, search.count)
  }
  return selectMatchesIn(tx, 'all', search)
}

/** MATERIALIZED and OFFSET 0 keep the planner from walking along the ids and parsing each text. */
async function selectMatchesIn(
  tx: Queryable,
  blocks: readonly [first: number, last: number] | 'all',
  { query, except, before, count, viewerId }: MatchQuery,
): Promise<string[]> {
  // The index knows no phrases, so the newest posts with all words are parsed until enough match.
  const words = query.includes('!') ? query : query.replace(/<(?:-|\d+)>/g, '&')
  const inBlocks =
    blocks === 'all'
      ? sql``
      : sql`&& search_blocks(${before}::bigint - 1, ${sql.lit(blocks[0])}, ${sql.lit(blocks[1])})`
  const isNew = except ? sql`AND NOT search_words(id, text) @@ ${except}::tsquery` : sql``
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM (
      WITH candidates AS MATERIALIZED (
        SELECT id FROM visible_posts WHERE search_words(id, text) @@ (${words}::tsquery ${inBlocks})
      )
      SELECT id FROM candidates WHERE id < ${before}::bigint ORDER BY id DESC OFFSET 0
    ) candidate
    WHERE (SELECT search_words(id, text) @@ ${query}::tsquery FROM posts
      WHERE id = candidate.id ${isNew} AND owner_id <> ALL (
        ARRAY(SELECT muted_id FROM mutes WHERE user_id = ${viewerId}::bigint)
      ))
    LIMIT ${count}`.execute(tx)
  return rows.map(({ id }) => id)
}

export async function selectMatchedWords(
  tx: Queryable,
  query: string,
  ids: string[],
): Promise<string[]> {
  const { rows } = await sql<{ word: string }>`
    SELECT DISTINCT word[1] AS word FROM visible_posts
    CROSS JOIN LATERAL regexp_matches(
      ts_headline('pg_catalog.russian', search_text(text), ${query}::tsquery,
        'HighlightAll=true, StartSel=<, StopSel=>'),
      '<([^>]+)>', 'g') AS word
    WHERE id = ANY(${ids}::bigint[])`.execute(tx)
  return rows.map(({ word }) => word)
}
