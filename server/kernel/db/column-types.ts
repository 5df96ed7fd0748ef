import type { ColumnType } from 'kysely'

/** Ids are bigint, which pg returns as strings: they are opaque all the way. */
export type Id = string
export type OptionalId = ColumnType<Id | null, Id | null | undefined, never>
export type GeneratedId = ColumnType<string, never, never>
export type CreatedAt = ColumnType<Date, never, never>
