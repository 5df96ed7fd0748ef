/** The system's or PostgreSQL's code of an error ('ENOENT', '57P03'), or an empty string. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
