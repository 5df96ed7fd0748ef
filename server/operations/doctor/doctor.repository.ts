import { sql } from 'kysely'
import type { Queryable } from '../../kernel/db/database.ts'
import { COUNT_NODES, SELECT_NODE_VERSIONS } from '../../kernel/db/nodes.ts'

export type DatabaseFacts = {
  postgres: string
  postgres_major: number
  version: string | null
  is_read_only: boolean
  /** Tables of the product that belong to another role. */
  foreign_tables: number
  may_create: boolean
  is_superuser: boolean
  nodes: number
  /** Of the nodes. */
  versions: string[]
  counters_checked_at: Date | null
  counter_differences: number | null
  /** By the database's clock. */
  counters_age_days: number | null
}

export async function selectDatabaseFacts(db: Queryable): Promise<DatabaseFacts> {
  const { rows } = await sql<DatabaseFacts>`
    SELECT current_setting('server_version') AS postgres,
      current_setting('server_version_num')::int / 10000 AS postgres_major,
      i.version, i.counters_checked_at, i.counter_differences,
      (extract(epoch FROM now() - i.counters_checked_at) / 86400)::float8 AS counters_age_days,
      pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean AS is_read_only,
      (SELECT count(*) FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'S')
          AND NOT pg_has_role(relowner, 'USAGE'))::int AS foreign_tables,
      has_schema_privilege('public', 'CREATE') AS may_create,
      (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS is_superuser,
      (${sql.raw(COUNT_NODES)}) AS nodes,
      ARRAY(${sql.raw(SELECT_NODE_VERSIONS)}) AS versions
    FROM installation i`.execute(db)
  const [facts] = rows
  if (!facts) throw new Error('the installation has no row')
  return facts
}

export type JobFacts = { overdue: number; given_up: number; tasks: string[] }

/** Jobs run within seconds; a job that waits longer is not run at all. */
const OVERDUE = sql.raw(`interval '10 minutes'`)

export async function selectJobFacts(db: Queryable): Promise<JobFacts> {
  const { rows } = await sql<JobFacts>`
    SELECT (count(*) FILTER (WHERE attempts < max_attempts))::int AS overdue,
      (count(*) FILTER (WHERE attempts >= max_attempts))::int AS given_up,
      coalesce(array_agg(DISTINCT task_identifier), '{}') AS tasks
    FROM graphile_worker.jobs
    WHERE locked_at IS NULL
      AND (attempts >= max_attempts OR run_at < now() - ${OVERDUE})`.execute(db)
  return rows[0] ?? { overdue: 0, given_up: 0, tasks: [] }
}

/** More posts a week than this are not counted one by one. */
const NEWEST = sql.raw('100000')

/** Returns the daily growth in bytes: the last week's posts, each with its share of everything. */
export async function selectDailyGrowth(db: Queryable): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    SELECT coalesce(week.posts / 7.0 * size.bytes / nullif(total.posts, 0), 0)::float8 AS bytes
    FROM (SELECT count(*) AS posts FROM (SELECT created_at FROM visible_posts ORDER BY id DESC LIMIT ${NEWEST}) newest
        WHERE created_at > now() - interval '7 days') week,
      (SELECT sum(pg_total_relation_size(oid)) AS bytes FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind = 'r') size,
      (SELECT sum(posts) AS posts FROM wall_totals) total`.execute(db)
  return rows[0]?.bytes ?? 0
}
