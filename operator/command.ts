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

export type Context = {
  env: Env
  config: Config
  wall: Wall
  db: Db
  actor: string
  values: Values
  words: string[]
  isDryRun: boolean
  /** Asks the operator to confirm. Throws Refusal if they do not. */
  confirm(question: string): Promise<void>
}

/** For commands that open a database themselves, or need none. */
export type ContextWithoutWall = Omit<Context, 'wall' | 'db'> & { say: (line: string) => void }

/** For commands that also read the settings themselves. */
export type Alone = Omit<ContextWithoutWall, 'config' | 'confirm'> & {
  /** Undefined without a terminal or with `--yes`. Rejects when the operator ends the question. */
  prompt?: (question: string, options?: { isHidden?: boolean }) => Promise<string>
}

export type Command = CommandFacts &
  (
    | { run(context: Context): Promise<Output> }
    | { runWithoutWall(context: ContextWithoutWall): Promise<Output> }
    | { runAlone(alone: Alone): Promise<Output> }
  )

type CommandFacts = {
  usage: string[]
  summary: string
  /** The names of its own options; those with a value end in `=`. */
  options?: string[]
  /**
   * Whether the command handles an interruption itself; any other is abandoned where it stands.
   */
  endsWhenInterrupted?: boolean
}

class DryRun extends Error {}

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
  let result: { value: T } | undefined
  try {
    await db.transaction().execute(async (tx) => {
      result = { value: await work(tx) }
      if (isDryRun) throw new DryRun()
    })
  } catch (error) {
    if (!(error instanceof DryRun)) throw error
  }
  if (!result) throw new Error('the transaction had no result')
  return result.value
}

export function textOf({ values }: Context, name: string): string | undefined {
  const value = values[name]
  return typeof value === 'string' ? value : undefined
}

const MOST = 9999

export function daysOf(context: Context, name: string): number | undefined {
  return numberOf(context, name, 'число дней')
}

export function numberOf(context: Context, name: string, what: string): number | undefined {
  const text = textOf(context, name)
  if (text === undefined) return undefined
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text)
  throw new UsageError(`--${name}: нужно ${what} от 1 до ${MOST}`)
}

const UNITS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** Parses a duration such as `2h` or `7d` into seconds. */
export function secondsOf(context: Context, name: string): number | undefined {
  const text = textOf(context, name)
  if (text === undefined) return undefined
  const [, count, unit = ''] = /^([1-9]\d{0,5})([smhd])$/.exec(text) ?? []
  if (count === undefined) throw new UsageError(`--${name}: нужно время, например 30m, 2h или 7d`)
  return Number(count) * (UNITS[unit] ?? 1)
}

/** Parses `--before`, the id that ended the previous page. */
export function beforeOf(context: Context): string | undefined {
  const id = textOf(context, 'before')
  if (id === undefined || isRowId(id)) return id
  throw new UsageError('--before: нужен номер из последней строки')
}

/** Returns the act that `word` names. Throws UsageError that lists the possible words. */
export function actOf<T>(acts: Record<string, T>, word: string | undefined): T {
  const act = word !== undefined && Object.hasOwn(acts, word) ? acts[word] : undefined
  if (act !== undefined) return act
  const words = new Intl.ListFormat('ru', { type: 'disjunction' }).format(Object.keys(acts))
  throw new UsageError(`нужно ${words}`)
}

export function listed(lines: string[], nothing: string, json: unknown): Output {
  return { lines: lines.length > 0 ? lines : [nothing], json }
}

export function requireWords({ words }: Pick<Context, 'words'>, least: number, most = least): void {
  if (words.length < least) throw new MissingWords('не хватает слов')
  if (words.length > most) throw new UsageError(`лишнее слово: ${words[most]}`)
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

export class MissingWords extends UsageError {}
