import pg from 'pg'
import { afterAll, expect, inject, test } from 'vitest'
import { freshDatabase } from '../../server/testing/database/databases.ts'
import { HeldPostgres } from './held-postgres.ts'
import { inOrders, type Sides } from './schedules.ts'
import { openState } from './stored-state.ts'
import type { Answer } from './world.ts'

const stack = new AsyncDisposableStack()
afterAll(() => stack.disposeAsync())

const database = await freshDatabase(inject('databaseUrl'))
stack.defer(database.drop)
const state = await openState(database.url)
stack.defer(state.close)
await state.execute(`
  ALTER DATABASE ${new URL(database.url).pathname.slice(1)} SET deadlock_timeout = '20ms';
  CREATE TABLE parents (id int PRIMARY KEY, value int NOT NULL);
  CREATE TABLE children (id int PRIMARY KEY, parent int REFERENCES parents, value int NOT NULL);
  CREATE TABLE totals (value int NOT NULL);
  CREATE FUNCTION count_children() RETURNS trigger LANGUAGE plpgsql AS
    $$BEGIN UPDATE totals SET value = value + 1; RETURN NULL; END$$;
  CREATE TRIGGER counted AFTER INSERT ON children EXECUTE FUNCTION count_children();
  GRANT ALL ON parents, children, totals TO PUBLIC`)

function openPool({ url }: HeldPostgres): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, application_name: 'vslukh', max: 1 })
  stack.defer(() => pool.end())
  return pool
}
const postgreses = [new HeldPostgres(database.url), new HeldPostgres(database.url)] as const
const pools = [openPool(postgreses[0]), openPool(postgreses[1])] as const

const DEADLOCK = '40P01'

const STATEMENTS = [
  'SELECT value FROM parents WHERE id = 1',
  'SELECT value FROM parents WHERE id = 2 FOR NO KEY UPDATE',
  'SELECT id, value FROM children ORDER BY id',
  'SELECT value FROM totals',
  'UPDATE parents SET value = value * 2 WHERE id = 1',
  'UPDATE parents SET value = (SELECT value FROM totals) WHERE id = 2',
  'UPDATE totals SET value = value * 3 + (SELECT value FROM parents WHERE id = 1)',
  'INSERT INTO children VALUES (1, 1, 1) ON CONFLICT (id) DO UPDATE SET value = children.value + 5',
  'INSERT INTO children VALUES (2, 2, 1) ON CONFLICT DO NOTHING RETURNING id',
  'DELETE FROM children WHERE id = 1',
  'SELECT pg_advisory_xact_lock(1)',
]

const ROWS = `SELECT
  (SELECT json_agg(p ORDER BY id) FROM parents p) AS parents,
  (SELECT json_agg(c ORDER BY id) FROM children c) AS children,
  (SELECT json_agg(t) FROM totals t) AS totals`

/** A transaction of up to three statements, with up to one before and one after it. */
function makeCall(pool: pg.Pool, random: () => number): () => Promise<Answer> {
  const upTo = (most: number) =>
    Array.from({ length: Math.floor(random() * (most + 1)) }, () => {
      return STATEMENTS[Math.floor(random() * STATEMENTS.length)] ?? ''
    })
  const statements = [...upTo(1), 'BEGIN', ...upTo(3), 'COMMIT', ...upTo(1)]
  return async () => {
    const client = await pool.connect()
    const body: unknown[] = []
    try {
      for (const text of statements) body.push((await client.query(text)).rows)
      return { status: 200, body }
    } catch (error) {
      await client.query('ROLLBACK')
      return { status: 409, body: (error as pg.DatabaseError).code }
    } finally {
      client.release()
    }
  }
}

async function resultsOf(sides: Sides, mayAffect?: () => boolean): Promise<string[]> {
  const results = new Set<string>()
  async function begin() {
    await state.execute(`TRUNCATE parents, children, totals;
      INSERT INTO parents VALUES (1, 1), (2, 2); INSERT INTO totals VALUES (7)`)
    return sides
  }
  const { isBlocked } = state
  const ways = { isBlocked, most: 5000, ...(mayAffect && { mayAffect }) }
  const { count } = await inOrders(begin, ways, async ({ answers }) => {
    const { rows } = await state.execute(ROWS)
    // Which of two calls a deadlock ends is chance.
    const isDeadlock = answers.some(({ body }) => body === DEADLOCK)
    results.add(isDeadlock ? 'deadlock' : JSON.stringify([answers, rows]))
  })
  if (process.env.SEEDS) process.stdout.write(`${count} orders, ${results.size} results\n`)
  return [...results].sort()
}

/** Mulberry32. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const SEEDS = (process.env.SEEDS ?? '2').split(' ').map(Number)

test.for(SEEDS)(
  'orders that are left out have no other result (seed %i)',
  { timeout: 600_000 },
  async (seed) => {
    const random = seeded(seed)
    const sideOf = (at: 0 | 1) => ({
      postgres: postgreses[at],
      call: makeCall(pools[at], random),
    })
    const sides: Sides = [sideOf(0), sideOf(1)]
    const all = await resultsOf(sides, () => true)
    expect(await resultsOf(sides)).toEqual(all)
  },
)
