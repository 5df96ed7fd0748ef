import { sql } from 'kysely'
import { CONNECTIONS, type Queryable } from './database.ts'

/** The largest pool of jobs. */
const JOBS = 4
/** A node also has two connections for mails, one for changes, and one that locks its jobs. */
const OTHERS = 4
/** For a while there are also a backup, a probe during an outage, and commands of an operator. */
const PASSING = 4
/** Of those for jobs one only listens, and a long job must leave one to the others. */
const FEWEST = { requests: 2, jobs: 3 }

/** With fewer connections a node does not start. */
export const FEWEST_CONNECTIONS = FEWEST.requests + FEWEST.jobs + OTHERS + 1

/** Returns how many connections these nodes need, which share those of a pooler for requests. */
export function neededConnections(nodes = 1, isBehindPooler = false): number {
  return (isBehindPooler ? 1 : nodes) * CONNECTIONS + nodes * (JOBS + OTHERS) + PASSING
}

/** Returns the sizes of the pools of a node that may open so many connections. */
export function fitPools(connections = Number.POSITIVE_INFINITY, isBehindPooler = false) {
  const jobs = connections < neededConnections() ? FEWEST.jobs : JOBS
  const rest = connections - jobs - OTHERS - PASSING
  const requests = isBehindPooler ? CONNECTIONS : Math.min(CONNECTIONS, rest)
  return { jobs, requests: Math.max(FEWEST.requests, requests) }
}

/** How many connections this role may open, and the statement that raises the limit. */
export type ConnectionLimit = { connections: number; raise: (to: number) => string }

export async function readConnectionLimit(db: Queryable): Promise<ConnectionLimit> {
  const { rows } = await sql<{ connections: number; reserved: number; of: string }>`
    SELECT connections, reserved, CASE connections WHEN of_role THEN 'ALTER ROLE ' || role
      WHEN of_database THEN 'ALTER DATABASE ' || database ELSE '' END AS of
    FROM (
      SELECT quote_ident(rolname) AS role, quote_ident(datname) AS database, of_role, of_database,
        reserved, least(of_role, of_database, of_server - reserved) AS connections
      FROM pg_roles, pg_database,
        LATERAL (SELECT CASE WHEN NOT rolsuper AND rolconnlimit >= 0 THEN rolconnlimit END AS of_role,
          CASE WHEN NOT rolsuper AND datconnlimit >= 0 THEN datconnlimit END AS of_database,
          current_setting('max_connections')::int AS of_server,
          current_setting('superuser_reserved_connections')::int
            + coalesce(current_setting('reserved_connections', true), '0')::int AS reserved) limits
      WHERE rolname = session_user AND datname = current_database()
    ) smallest`.execute(db)
  const { connections = Number.POSITIVE_INFINITY, reserved = 0, of = '' } = rows[0] ?? {}
  const raise = (to: number) =>
    of === ''
      ? `ALTER SYSTEM SET max_connections = ${to + reserved}, после чего перезапустите PostgreSQL`
      : `${of} CONNECTION LIMIT ${to}`
  return { connections, raise }
}
