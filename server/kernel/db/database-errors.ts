/** Errors of finding or reaching a database that is down, restarting or out of reach. No accepted connection has them. */
const CONNECT_ERRORS = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
])
/** Errors of a connection that breaks, be it to the database or from a client. */
const BREAK_ERRORS = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT'])
/**
 * SQLSTATE classes 08 (connection), 40 (rolled back: deadlock, serialisation), 53 (out of resources), 57 (cancelled,
 * shutting down), 25006 (read-only), 25P03 (idle in a transaction for too long), 55P03 (lock not available).
 */
const UNAVAILABLE_STATES = /^(08|40|53|57)|^(25006|25P03|55P03)$/
/** SQLSTATEs of a server that cannot be reached, or is shutting down or starting up. */
const AWAY_STATES = /^(08|57P0[123])/
/** The messages of pg's errors without a code, for a connection that is lost or could not be opened within its timeout. */
const LOST =
  /^(Connection terminated|timeout exceeded when trying to connect|Client (has encountered a connection error|was closed)|Query read timeout)/

const fromDatabase = new WeakSet<Error>()

/** Remembers that a connection to the database had this error. */
export function noteDatabaseError(error: Error): void {
  fromDatabase.add(error)
}

/** Whether an error, wherever it comes from, means that the database cannot serve now but may serve a retry. */
export function isDatabaseUnavailable(error: Error & { code?: unknown }): boolean {
  return isConnectionLost(error) || UNAVAILABLE_STATES.test(stateOf(error))
}

/**
 * Whether an error means that a connection broke or could not be opened, so that the database may be away for everybody. A
 * server that refuses one statement, or has no room for one more connection, is there.
 */
export function isConnectionLost(error: Error & { code?: unknown }): boolean {
  const code = stateOf(error)
  return (
    CONNECT_ERRORS.has(code) ||
    (BREAK_ERRORS.has(code) && fromDatabase.has(error)) ||
    AWAY_STATES.test(code) ||
    LOST.test(error.message)
  )
}

function stateOf({ code }: { code?: unknown }): string {
  return typeof code === 'string' ? code : ''
}

/** The code of a system error ('ENOENT') or of one of PostgreSQL's ('57P03'); an empty string where there is none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** Whether PostgreSQL refused a second row where an index allows only one. */
export function isUniqueViolation(error: unknown): boolean {
  return errorCode(error) === '23505'
}
