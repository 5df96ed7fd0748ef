import type { Wall } from './seeded-wall.ts'

export type Case = {
  /** How the program's help describes the command, up to its options. */
  usage: string
  words: (wall: Wall) => string[]
  /** Command lines or SQL that prepare the wall, before any case runs. */
  before?: (wall: Wall) => (string[] | string)[]
  /** Its exit code, by default 0. */
  code?: (wall: Wall) => number
  /** A part of what it prints as lines. */
  prints: (wall: Wall) => string
  /** A part of what its dry run prints with --json. */
  json: (wall: Wall) => unknown
  /** A query after the command, and its expected result. */
  leaves?: [(wall: Wall) => Promise<unknown>, unknown]
  /** What it writes into the journal. */
  journal?: string[]
}

export const count = (table: string, where: (wall: Wall) => string) => async (wall: Wall) =>
  (await wall.query(`SELECT count(*)::int AS n FROM ${table} WHERE ${where(wall)}`))[0]?.n
