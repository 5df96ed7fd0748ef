import pg from 'pg'
import { asSuperuser, withDatabase } from '../../server/testing/database/databases.ts'

/** The rows of each table, as the text of their JSON. */
export type State = Map<string, string[]>

type Table = { name: string; columns: string }

/** Tables whose rows are no result of a call, or differ between two equal calls. */
const LEFT_OUT = [
  'public.installation',
  'public.kysely_migration',
  'public.rate_limits',
  'public.failing_tasks',
]
export const JOBS = 'graphile_worker._private_jobs'
const WALL = 'public.wall_totals'
/** Not compared: of two calls that end a session, the earlier one stores its reason. */
const CLOSED = 'public.closed_sessions'

/** Reads and restores the whole database. The caller closes its connection. */
export async function openState(databaseUrl: string) {
  const url = withDatabase(asSuperuser(databaseUrl), new URL(databaseUrl).pathname.slice(1))
  const client = new pg.Client({ connectionString: url, application_name: 'pairs' })
  await client.connect()
  // Turns off triggers and foreign keys, to restore rows.
  await client.query('SET session_replication_role = replica')
  const tables = await readTables(client)
  const rowsOf = ({ name }: Table) =>
    `SELECT '${name}' AS name, ARRAY(SELECT to_jsonb(t)::text FROM ${name} t) AS rows`
  const reading = { name: 'state', text: tables.map(rowsOf).join(' UNION ALL ') }

  async function read(): Promise<State> {
    const { rows } = await client.query<{ name: string; rows: string[] }>(reading)
    return new Map(rows.map(({ name, rows: texts }) => [name, texts.sort()]))
  }

  return {
    read,

    /** Turns the rows of `present` into those of `wanted`. */
    async restore(wanted: State, present: State): Promise<void> {
      const work = tables.map(({ name, columns }) => {
        const rows = wanted.get(name)?.join() ?? ''
        if (rows === present.get(name)?.join()) return ''
        return `DELETE FROM ${name}; INSERT INTO ${name} (${columns}) OVERRIDING SYSTEM VALUE
          SELECT ${columns} FROM jsonb_populate_recordset(NULL::${name}, ${pg.escapeLiteral(`[${rows}]`)});`
      })
      await client.query(work.join(''))
    },

    execute: (text: string) => client.query(text),

    async isBlocked(pid: number): Promise<boolean> {
      const { rows } = await client.query({
        name: 'blocked',
        text: 'SELECT cardinality(pg_blocking_pids($1)) > 0 AS is',
        values: [pid],
      })
      return rows[0].is
    },

    close: () => client.end(),
  }
}

async function readTables(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Table>(`
    SELECT n.nspname || '.' || c.relname AS name,
      (SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
        WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '') AS columns
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND (n.nspname = 'public' OR n.nspname || '.' || c.relname = '${JOBS}')
    ORDER BY 1`)
  return rows.filter(({ name }) => !LEFT_OUT.includes(name))
}

const ID = /^id$|_ids?$|Ids?$|^decision$|^number$/
const TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/
/** A secret, or a generated name. */
const RANDOM = /[0-9a-zA-Z_-]{24,}|user_[0-9a-z]{7}/g
/** Columns that state only when, or how often before, a job was queued. */
const OF_JOBS = ['id', 'job_queue_id', 'revision', 'run_at', 'created_at', 'updated_at']

/** Creates the functions that replace ids, times and secrets that are not in `before`. */
export function createNormalizer(before: State) {
  const known = new Set<string>()
  for (const row of [...before.values()].flat()) {
    JSON.parse(row, (_key, value) => {
      if (typeof value === 'object') return value
      for (const text of [String(value), ...(String(value).match(RANDOM) ?? [])]) known.add(text)
      return value
    })
  }

  function normal(value: unknown, key: string): unknown {
    if (Array.isArray(value)) return value.map((one) => normal(one, key))
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(
        Object.entries(value).map(([name, one]) => [name, normal(one, name)]),
      )
    }
    if (value === undefined) return null
    if (value === null || typeof value === 'boolean' || known.has(String(value))) return value
    if (typeof value === 'number') {
      if (ID.test(key)) return '#'
      return value > 1e9 || !Number.isInteger(value) ? 'time' : value
    }
    const text = String(value)
    if (TIME.test(text)) return 'time'
    if (ID.test(key) || key === 'token') return '#'
    return text.replace(RANDOM, (found) => (known.has(found) ? found : '#'))
  }

  return {
    normal: (value: unknown) => normal(value, ''),

    /** Returns the rows of each table that are not as before, sorted. */
    changes(state: State): Record<string, readonly string[]> {
      const changed = [...state].flatMap(([name, rows]) => {
        if (name === CLOSED) return []
        if (name === WALL) return [[name, [sumOf(rows)]] as const]
        const old = new Set(before.get(name))
        const present = new Set(rows)
        const gone = [...old].filter((row) => !present.has(row)).map((row) => `gone: ${row}`)
        const fresh = rows.filter((row) => !old.has(row)).map((row) => normalRow(name, row))
        return fresh.length + gone.length === 0 ? [] : [[name, [...fresh.sort(), ...gone]] as const]
      })
      return Object.fromEntries(changed)
    },
  }

  function normalRow(name: string, row: string): string {
    const columns = Object.entries(JSON.parse(row))
    const compared = columns.filter(([key]) => name !== JOBS || !OF_JOBS.includes(key))
    return JSON.stringify(normal(Object.fromEntries(compared), ''))
  }
}

/** The wall's posts are counted in slots that are chosen at random. */
const sumOf = (rows: string[]) =>
  rows.reduce((sum, row) => sum + Number(JSON.parse(row).posts), 0).toString()
