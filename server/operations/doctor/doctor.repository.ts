import { sql } from 'kysely'
import type { Queryable } from '../../kernel/db/database.ts'
import { OWN_TABLES } from '../../kernel/db/migrate.ts'
import { COUNT_NODES, SELECT_NODE_VERSIONS } from '../../kernel/db/nodes.ts'

export type DatabaseFacts = Awaited<ReturnType<typeof selectDatabaseFacts>>

export function selectDatabaseFacts(db: Queryable) {
  return db
    .selectFrom('installation')
    .select(['version', 'counter_differences'])
    .select([
      sql<string>`current_setting('server_version')`.as('postgres'),
      sql<number | null>`extract(epoch FROM now() - counters_checked_at)::float8 / 86400`.as(
        'counters_age_days',
      ),
      sql<boolean>`pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean`.as(
        'is_read_only',
      ),
      // The number of the product's tables that belong to another role.
      sql<number>`(SELECT count(*) FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relname = ANY (${OWN_TABLES}::text[])
          AND NOT pg_has_role(relowner, 'USAGE'))::int`.as('foreign_tables'),
      sql<boolean>`has_schema_privilege('public', 'CREATE')`.as('may_create'),
      sql<boolean>`(SELECT rolsuper FROM pg_roles WHERE rolname = current_user)`.as('is_superuser'),
      sql<number>`(${sql.raw(COUNT_NODES)})`.as('nodes'),
      sql<string[]>`ARRAY(${sql.raw(SELECT_NODE_VERSIONS)})`.as('versions'),
      sql<boolean>`search_text('Ж') = 'ж'`.as('is_russian'),
      sql<string>`quote_ident(current_database())`.as('database'),
      // Null for C and C.UTF-8, whose order never changes.
      sql<
        string | null
      >`(SELECT datcollversion FROM pg_database WHERE datname = current_database())`.as(
        'collation_stored',
      ),
      sql<string | null>`(SELECT pg_database_collation_actual_version(oid) FROM pg_database
        WHERE datname = current_database())`.as('collation_actual'),
    ])
    .executeTakeFirstOrThrow()
}

export type JobFacts = {
  overdue: number
  given_up: number
  tasks: string[]
  /** The tasks that fail again and again, with the time of the first failure. */
  failing: { task: string; since: string }[]
}

/** From so many failures in sequence on, a task is broken: a job of each minute may meet a lock. */
const FAILURES = sql.raw('3')

/** The delay from which a job is overdue. Jobs run within seconds. */
const OVERDUE = sql.raw(`interval '10 minutes'`)

export async function selectJobFacts(db: Queryable): Promise<JobFacts> {
  const { rows } = await sql<JobFacts>`
    SELECT (count(*) FILTER (WHERE attempts < max_attempts))::int AS overdue,
      (count(*) FILTER (WHERE attempts >= max_attempts))::int AS given_up,
      coalesce(array_agg(DISTINCT task_identifier), '{}') AS tasks,
      (SELECT coalesce(json_agg(json_build_object('task', task, 'since', since) ORDER BY task), '[]')
        FROM failing_tasks WHERE failures >= ${FAILURES}) AS failing
    FROM graphile_worker.jobs
    WHERE locked_at IS NULL
      AND (attempts >= max_attempts OR run_at < now() - ${OVERDUE})`.execute(db)
  return rows[0] ?? { overdue: 0, given_up: 0, tasks: [], failing: [] }
}

/** The most posts of a week that are counted. */
const NEWEST = sql.raw('100000')

/** Returns the daily growth in bytes, estimated from the posts of the last week. */
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
