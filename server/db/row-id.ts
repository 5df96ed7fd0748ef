/** Whether an opaque id from a client can name a row at all: a positive bigint of at most 18 digits. */
export function isRowId(id: string): boolean {
  return /^[1-9]\d{0,17}$/.test(id)
}

/** Row ids as the literal of a PostgreSQL array: quicker than an array of strings, each of which pg would escape. */
export function idArray(ids: string[]): string {
  return `{${ids.join(',')}}`
}
