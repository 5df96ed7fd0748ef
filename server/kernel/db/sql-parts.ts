import { sql } from 'kysely'

export function unixSeconds(time: string) {
  return sql.raw<number>(`floor(extract(epoch FROM ${time}))::float8`)
}
