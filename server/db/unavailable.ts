/** Errors of the socket, or of finding its address, where a database is down, restarting or out of reach. */
const SOCKET_ERRORS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
])
/**
 * SQLSTATE classes 08 (connection), 40 (rolled back: deadlock, serialisation), 53 (out of resources), 57 (cancelled,
 * shutting down), 55P03 (lock not available).
 */
const UNAVAILABLE_STATES = /^(08|40|53|57)|^55P03$/
/** What pg says in an Error without a code when a connection is lost or not to be had in time. */
const LOST =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Query read timeout)/

/** Whether an error means that the database cannot serve now but may serve a retry. */
export function isDatabaseUnavailable(error: Error & { code?: unknown }): boolean {
  const code = typeof error.code === 'string' ? error.code : ''
  return SOCKET_ERRORS.has(code) || UNAVAILABLE_STATES.test(code) || LOST.test(error.message)
}
