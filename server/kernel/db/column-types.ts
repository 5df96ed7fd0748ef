import type { ColumnType } from 'kysely'

/** The types of columns that many tables have. bigint columns come back as strings: ids are opaque all the way. */
export type Id = string
export type OptionalId = ColumnType<Id | null, Id | null | undefined, never>
export type GeneratedId = ColumnType<string, never, never>
export type CreatedAt = ColumnType<Date, never, never>
