import { isEmail } from '../contract/account-rules.ts'
import { type Change, publishFromOutside } from '../server/kernel/cache/change-feed.ts'
import type { Config } from '../server/kernel/config/config.ts'
import type { Db, Queryable } from '../server/kernel/db/database.ts'
import { StartError } from '../server/kernel/errors/app-error.ts'
import type { Options } from './options.ts'

export type Env = Record<string, string | undefined>

/** A migrated database. Disposing of it disconnects, and stops PostgreSQL if the command started it. */
export type Wall = AsyncDisposable & { url: string; db: Db; isTemporary: boolean }

/** The output of a command: `lines` are printed for people, `json` is printed with `--json`. */
export type Output = {
  lines: string[]
  json: unknown
  /** Whether the exit code is 1 although the command has run. */
  isBroken?: boolean
}

/** The context that every command receives. */
export type BaseContext = {
  env: Env
  actor: string
  options: Options
  /** The words given for the placeholders of the form, such as `НОМЕР` or `domain|network`. */
  words: string[]
  isDryRun: boolean
  say(line: string): void
  /** Asks on the terminal; rejects on Ctrl+C. Undefined without a terminal or with `--yes`. */
  prompt: ((question: string, options?: { isHidden?: boolean }) => Promise<string>) | undefined
  /** Asks the operator to confirm. Throws Refusal if they do not. */
  confirm(question: string): Promise<void>
}

export type ContextWithoutWall = BaseContext & { config: Config }

export type Context = ContextWithoutWall & { wall: Wall; db: Db }

/**
 * The functions of a command by the usage of the call. Words in capitals are placeholders, and
 * words in brackets are optional. The first form that fits the words is run.
 */
export type Forms<C> = Record<string, (context: C) => Promise<Output>>

export type Command = {
  summary: string
  /** Whether the command handles an interruption; otherwise the program stops waiting for it. */
  endsWhenInterrupted?: boolean
} & (
  | { needs: 'wall'; forms: Forms<Context> }
  | { needs: 'settings'; forms: Forms<ContextWithoutWall> }
  | { needs: 'nothing'; forms: Forms<BaseContext> }
)

/** Runs a change like `commit`, and then makes every node invalidate its cached responses. */
export async function commitAndPublish<T>(
  context: Context,
  work: (tx: Queryable) => Promise<T>,
  change?: Change,
): Promise<T> {
  const result = await commit(context, work)
  await publishChange(context, change)
  return result
}

/** Makes every node invalidate its cached responses. Does nothing in a dry run. */
export async function publishChange(
  { wall, isDryRun }: Context,
  change: Change = { kind: 'edited' },
): Promise<void> {
  if (!isDryRun) await publishFromOutside(wall.url, change)
}

/** Runs a change in one transaction, rolled back with `--dry-run`. Callers then call `publish`. */
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

export function listOutput(lines: string[], nothing: string, json: unknown): Output {
  return { lines: lines.length > 0 ? lines : [nothing], json }
}

/** Thrown if a command cannot do its work, with a Russian sentence. The exit code is 1. */
export class Refusal extends StartError {}

/** Thrown if the operator ends a question without an answer. */
export class Interrupted extends Refusal {}

/** Thrown for a wrong command line. The exit code is 2. */
export class UsageError extends Error {
  /** The name of the command whose help shows the right call. */
  command?: string
}

/** Returns an e-mail address that the operator has given. Throws UsageError if it is none. */
export function readEmail(text = ''): string {
  if (isEmail(text)) return text
  throw new UsageError(`«${text}» — не адрес почты`)
}
