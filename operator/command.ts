import { publishFromOutside } from '../server/kernel/cache/change-feed.ts'
import type { Config } from '../server/kernel/config/config.ts'
import { type Db, isRowId, type Queryable } from '../server/kernel/db/database.ts'

export type Values = Record<string, string | boolean | undefined>

export type Env = Record<string, string | undefined>

/** A migrated database. `close` disconnects, and stops the database if the command started it. */
export type Wall = { url: string; db: Db; close(): Promise<void> }

/** Lines for people, or one JSON value with `--json`. */
export type Output = {
  lines: string[]
  json: unknown
  isBroken?: boolean
}

/** What every command gets. */
export type Alone = {
  env: Env
  actor: string
  values: Values
  /** The words of the call that its form does not fix, such as `НОМЕР` or `domain|network`. */
  words: string[]
  isDryRun: boolean
  say(line: string): void
  /** Undefined without a terminal or with `--yes`. Rejects when the operator ends the question. */
  prompt: ((question: string, options?: { isHidden?: boolean }) => Promise<string>) | undefined
  /** Asks the operator to confirm. Throws Refusal if they do not. */
  confirm(question: string): Promise<void>
}

export type ContextWithoutWall = Alone & { config: Config }

export type Context = ContextWithoutWall & { wall: Wall; db: Db }

/**
 * What each form of a call does, by its usage: words in capitals are placeholders, those in
 * brackets may be left out. The first form that fits the words is run.
 */
export type Forms<C> = Record<string, (context: C) => Promise<Output>>

export type Command = {
  summary: string
  /**
   * Whether the command handles an interruption itself; any other is abandoned where it stands.
   */
  endsWhenInterrupted?: boolean
} & (
  | { needs: 'wall'; forms: Forms<Context> }
  | { needs: 'settings'; forms: Forms<ContextWithoutWall> }
  | { needs: 'nothing'; forms: Forms<Alone> }
)

/** Runs a change as `commit` does. After the commit every node invalidates its cached responses. */
export async function change<T>(context: Context, work: (tx: Queryable) => Promise<T>): Promise<T> {
  const result = await commit(context, work)
  await publish(context)
  return result
}

export async function publish({ wall, isDryRun }: Context): Promise<void> {
  if (!isDryRun) await publishFromOutside(wall.url, { kind: 'edited' })
}

/**
 * Runs a change in one transaction, after which the caller calls `publish`. With `--dry-run`
 * everything happens and is rolled back.
 */
export async function commit<T>(
  { db, isDryRun }: Pick<Context, 'db' | 'isDryRun'>,
  work: (tx: Queryable) => Promise<T>,
): Promise<T> {
  const tx = await db.startTransaction().execute()
  try {
    const result = await work(tx)
    await (isDryRun ? tx.rollback() : tx.commit()).execute()
    return result
  } catch (error) {
    await tx.rollback().execute()
    throw error
  }
}

type Given = Pick<Alone, 'values'>

export function textOf({ values }: Given, name: string): string | undefined {
  const value = values[name]
  return typeof value === 'string' ? value : undefined
}

const MOST = 9999

export function daysOf(given: Given, name: string): number | undefined {
  return numberOf(given, name, 'число дней')
}

export function numberOf(given: Given, name: string, what: string): number | undefined {
  const text = textOf(given, name)
  if (text === undefined) return undefined
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text)
  throw new UsageError(`--${name}: нужно ${what} от 1 до ${MOST}`)
}

const UNITS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** Parses a duration such as `2h` or `7d` into seconds. */
export function secondsOf(given: Given, name: string): number | undefined {
  const text = textOf(given, name)
  if (text === undefined) return undefined
  const [, count, unit = ''] = /^([1-9]\d{0,5})([smhd])$/.exec(text) ?? []
  if (count === undefined) throw new UsageError(`--${name}: нужно время, например 30m, 2h или 7d`)
  return Number(count) * (UNITS[unit] ?? 1)
}

/** Parses `--before`, the id that ended the previous page. */
export function beforeOf(given: Given): string | undefined {
  const id = textOf(given, 'before')
  if (id === undefined || isRowId(id)) return id
  throw new UsageError('--before: нужен номер из последней строки')
}

export function listed(lines: string[], nothing: string, json: unknown): Output {
  return { lines: lines.length > 0 ? lines : [nothing], json }
}

/** A command cannot do what it was asked to; the message is a Russian sentence. Exit code 1. */
export class Refusal extends Error {}

/** The person ended a question without an answer. */
export class Interrupted extends Refusal {}

/** A command line is wrong. Exit code 2. */
export class UsageError extends Error {
  /** The command whose help shows the right call. */
  command?: string
}
