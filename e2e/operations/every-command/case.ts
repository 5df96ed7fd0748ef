import type { Wall } from './seeded-wall.ts'

/** One way to call a command, and what it has to do. */
export type Case = {
  /** How the program's help describes this way, up to its options. */
  usage: string
  words: (wall: Wall) => string[]
  /** Command lines or SQL that make what the command works on, before any case runs. */
  before?: (wall: Wall) => (string[] | string)[]
  /** Its exit code, by default 0. */
  code?: (wall: Wall) => number
  /** A part of what it prints as lines. */
  says: (wall: Wall) => string
  /** A part of what its dry run prints with --json. */
  json: (wall: Wall) => unknown
  /** What it left behind, and what that has to be. */
  leaves?: [(wall: Wall) => Promise<unknown>, unknown]
  /** What it writes into the journal. */
  journal?: string[]
}

/** Counts the rows of a table. */
export const count = (table: string, where: (wall: Wall) => string) => async (wall: Wall) =>
  (await wall.query(`SELECT count(*)::int AS n FROM ${table} WHERE ${where(wall)}`))[0]?.n
