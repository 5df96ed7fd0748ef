/** Whether an opaque id from a client can name a row at all: a positive bigint of at most 18 digits. */
export function isRowId(id: string): boolean {
  return /^[1-9]\d{0,17}$/.test(id)
}

/** Returns row ids as the literal of a PostgreSQL array, which is quicker than an array that pg escapes string by string. */
export function idArray(ids: string[]): string {
  return `{${ids.join(',')}}`
}
