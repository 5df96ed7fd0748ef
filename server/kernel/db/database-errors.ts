/** Errors of a socket. Those of visitors' and mail servers' sockets are handled where they occur. */
const SOCKET_ERRORS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
])
/** SQLSTATEs of a lost connection, rollback, overload, shutdown, timeout or read-only server. */
const UNAVAILABLE_STATES = /^(08|40|53|57)|^(25006|25P03|55P03)$/
/** SQLSTATEs of a server that is out of reach, admits nobody, is shutting down or starting up. */
const AWAY_STATES = /^(08|28|3D|57P0[123])/
/** Messages of errors of pg and of Kysely that have no code. */
const LOST =
  /^(Connection terminated|Postgres connection has been discarded|timeout exceeded when trying to connect|Client (has encountered a connection error|was closed)|Query read timeout)/

/** Returns whether the database cannot serve now but may serve a retry. */
export function isDatabaseUnavailable(error: Error): boolean {
  return isConnectionLost(error) || UNAVAILABLE_STATES.test(errorCode(error))
}

export function isConnectionLost(error: Error): boolean {
  const code = errorCode(error)
  return SOCKET_ERRORS.has(code) || AWAY_STATES.test(code) || LOST.test(error.message)
}

/** Returns whether the server runs, but takes no more connections. */
export function isOutOfConnections(error: Error): boolean {
  return errorCode(error) === '53300'
}

export function isReadOnly(error: Error): boolean {
  return errorCode(error) === '25006'
}

/** Returns the code of a system error ('ENOENT') or of PostgreSQL ('57P03'), or an empty string. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** Matches `Key (user_id)=(7) is not present in table "users".` in any language of the server. */
const NO_USER = /\)=\((\d+)\).*"users"/

export function isOfErasedUser(
  error: Error & { code?: unknown; detail?: unknown },
  userId: string,
): boolean {
  return error.code === '23503' && NO_USER.exec(String(error.detail))?.[1] === userId
}

export function isUniqueViolation(error: unknown): boolean {
  return errorCode(error) === '23505'
}
