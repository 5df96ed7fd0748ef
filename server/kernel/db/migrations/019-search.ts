import { type Kysely, sql } from 'kysely'

export const isAdditive = true

/** Where PostgreSQL has it, it knows all letters whatever the locale of the cluster. */
const LETTERS = 'pg_c_utf8'

/** A flush of the usual 4 MB would keep the publication that causes it waiting for 0.3 s. */
const PENDING_KIB = 256

/** SQL that makes the index of the words of all visible posts. */
export function createSearchIndex(how: '' | 'CONCURRENTLY') {
  return sql.raw(`CREATE INDEX ${how} posts_search ON posts USING gin (search_words(id, text))
    WITH (gin_pending_list_limit = ${PENDING_KIB}) WHERE hidden_for IS NULL`)
}

/** Makes posts searchable by their words. The index of a wall that has posts is built by a job. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql`SELECT FROM pg_collation WHERE collname = ${LETTERS}`.execute(db)
  const collation = rows.length > 0 ? `COLLATE ${LETTERS}` : ''
  const statements = [
    // Only words are left: in a cluster with LC_CTYPE C, PostgreSQL's parser takes «» for letters.
    `CREATE FUNCTION search_text(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
      RETURN regexp_replace(lower(translate($1, U&'ёЁ\\0301\\0300\\00AD', 'ее') ${collation}),
        '[^[:alnum:]]+', ' ', 'g')`,
    // The last of them is no word that anybody could search for: it names 8192 neighbours, so that
    // the index finds the newest posts with a frequent word without reading all that have it.
    `CREATE FUNCTION search_words(id bigint, text text) RETURNS tsvector
      LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
      RETURN to_tsvector('pg_catalog.russian', search_text($2))
        || array_to_tsvector(ARRAY['#' || ($1 >> 13)])`,
    `CREATE FUNCTION search_blocks(newest bigint, first integer, last integer) RETURNS tsquery
      LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
      RETURN (SELECT string_agg(format('''#%s''', ($1 >> 13) - n), '|')::tsquery
        FROM generate_series($2, $3) n)`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
  const posts = await sql`SELECT FROM posts LIMIT 1`.execute(db)
  if (posts.rows.length === 0) await createSearchIndex('').execute(db)
}
