import type pg from 'pg'

/** The tables, and the advisory locks, by which a statement can affect those of another call. */
export type Effects = {
  /** What it read, locked or wrote. */
  touched: ReadonlySet<string>
  /** What it locked or wrote rows of. */
  locked: ReadonlySet<string>
  /** What others see from now on. */
  published: ReadonlySet<string>
  /** What others need no longer wait for. */
  released: ReadonlySet<string>
}

type Run = (...query: unknown[]) => Promise<unknown>

/** What limits count is no result of a call; a charge is a transaction by itself. */
const LEFT_OUT = 'rate_limits'

const BEGIN = /^\s*(?:begin|start transaction)\b/i
const END = /^\s*(?:commit|rollback|end)\b(?!\s+to\b)/i

const NOTHING: ReadonlySet<string> = new Set()
const NO_EFFECTS = { touched: NOTHING, locked: NOTHING, published: NOTHING, released: NOTHING }

/** By connection, the uses in its open transaction so far. */
const known = new WeakMap<pg.Client, Uses>()

/**
 * Sends a statement, and learns its effects from the database, which counts the uses of each table
 * and knows what a transaction has locked. A statement outside a transaction gets one, since its
 * locks would be gone afterwards. The effects of a failed statement are unknown.
 */
export async function sendObserved(
  { client, run }: { client: pg.Client; run: Run },
  send: () => Promise<unknown>,
  text: string,
): Promise<{ answered: Promise<unknown>; effects: Effects | undefined }> {
  let effects: Effects | undefined
  async function answer(): Promise<unknown> {
    if (BEGIN.test(text) || client.getTransactionStatus() === 'E') {
      effects = NO_EFFECTS
      const result = await send()
      if (client.getTransactionStatus() === 'T') known.set(client, await readUses(run))
      return result
    }
    const isAlone = client.getTransactionStatus() === 'I'
    if (isAlone) await run('BEGIN')
    try {
      const before = (!isAlone && known.get(client)) || (await readUses(run))
      const result = await send()
      if (END.test(text)) {
        effects = { ...NO_EFFECTS, published: before.written, released: before.locked }
        return result
      }
      const uses = await readUses(run)
      effects = differenceOf(before, uses, isAlone)
      if (isAlone) await run('COMMIT')
      else known.set(client, uses)
      return result
    } catch (error) {
      if (isAlone) await run('ROLLBACK')
      throw error
    }
  }
  const answered = answer()
  await answered.catch(() => {})
  return { answered, effects }
}

type Uses = {
  counts: Map<string, number>
  locked: ReadonlySet<string>
  written: ReadonlySet<string>
  advisory: ReadonlySet<string>
}

const READ_USES = {
  name: 'uses',
  text: `
    WITH locks AS MATERIALIZED (
      SELECT locktype, relation, format('advisory %s %s', classid, objid) AS advisory,
        mode <> 'AccessShareLock' AS locks, mode NOT IN ('AccessShareLock', 'RowShareLock') AS writes
      FROM pg_locks WHERE pid = pg_backend_pid()
    ), held AS (
      SELECT relation, bool_or(locks) AS locks, bool_or(writes) AS writes FROM locks
      WHERE locktype = 'relation' GROUP BY relation
    )
    SELECT coalesce(i.indrelid, c.oid)::text AS name,
      sum(pg_stat_get_xact_numscans(c.oid) + pg_stat_get_xact_tuples_inserted(c.oid)
        + pg_stat_get_xact_tuples_updated(c.oid) + pg_stat_get_xact_tuples_deleted(c.oid))::int AS uses,
      coalesce(bool_or(locks), false) AS locked, coalesce(bool_or(writes), false) AS written
    FROM pg_class c
    LEFT JOIN pg_index i ON i.indexrelid = c.oid
    LEFT JOIN held ON relation = c.oid
    WHERE c.relkind IN ('r', 'i')
      AND c.relnamespace IN ('public'::regnamespace, 'graphile_worker'::regnamespace)
      AND coalesce(i.indrelid, c.oid) <> '${LEFT_OUT}'::regclass
    GROUP BY coalesce(i.indrelid, c.oid)
    UNION ALL
    SELECT DISTINCT advisory, 0, true, false FROM locks WHERE locktype = 'advisory'`,
}

async function readUses(run: Run): Promise<Uses> {
  type Row = { name: string; uses: number; locked: boolean; written: boolean }
  const { rows } = (await run(READ_USES)) as pg.QueryResult<Row>
  const namesOf = (some: Row[]) => new Set(some.map(({ name }) => name))
  return {
    counts: new Map(rows.map(({ name, uses }) => [name, uses])),
    locked: namesOf(rows.filter(({ locked }) => locked)),
    written: namesOf(rows.filter(({ written }) => written)),
    advisory: namesOf(rows.filter(({ name }) => name.startsWith('advisory '))),
  }
}

function differenceOf(before: Uses, after: Uses, isAlone: boolean): Effects {
  const used = [...after.counts.keys()].filter(
    (name) => after.counts.get(name) !== before.counts.get(name),
  )
  const touched = new Set(used).union(after.locked.difference(before.locked))
  // By itself, a statement holds no advisory lock while another one runs.
  if (isAlone) for (const lock of after.advisory) touched.delete(lock)
  return {
    touched,
    locked: touched.intersection(after.locked),
    published: isAlone ? touched.intersection(after.written) : NOTHING,
    released: NOTHING,
  }
}

/** Whether two statements of two calls may have another result in the other order. */
export function areDependent(one: Effects | undefined, other: Effects | undefined): boolean {
  if (!one || !other) return true
  return (
    !one.locked.isDisjointFrom(other.locked) ||
    !one.released.isDisjointFrom(other.locked) ||
    !other.released.isDisjointFrom(one.locked) ||
    !one.published.isDisjointFrom(other.touched) ||
    !other.published.isDisjointFrom(one.touched)
  )
}
