/** Whether an error is PostgreSQL's refusal of a second row where an index allows one. */
export function isUniqueViolation(error: unknown): boolean {
  return hasState(error, '23505')
}

/** Whether an error is PostgreSQL's refusal of a row that refers to one that is gone. */
export function isForeignKeyViolation(error: unknown): boolean {
  return hasState(error, '23503')
}

function hasState(error: unknown, state: string): boolean {
  return error instanceof Error && 'code' in error && error.code === state
}
