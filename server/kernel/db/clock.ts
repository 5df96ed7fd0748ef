import type { FastifyBaseLogger } from 'fastify'
import { sql } from 'kysely'
import type { Queryable } from './database.ts'

/** The largest tolerated skew: with more, codes would expire on arrival, or tokens too late. */
export const LARGEST_SKEW_MS = 60_000

/**
 * Returns SQL for whether a time is less than `seconds` ago. A time that a wrong clock has set ahead is
 * not recent.
 */
export function isRecent(time: string, seconds: number) {
  return sql.raw<boolean>(`(${time} > now() - interval '${seconds} seconds'
    AND ${time} <= now() + interval '1 minute')`)
}

/** How long the lost answer to an act that works once can be had again. */
export const REPEAT_SECONDS = 120

/** Returns SQL for whether an act is so recent that its answer is repeated. */
export function isRepeatable(doneAt: string) {
  return sql<boolean>`coalesce(${isRecent(doneAt, REPEAT_SECONDS)}, false)`
}

/** In unix milliseconds. */
export async function readDatabaseTime(db: Queryable): Promise<number> {
  const { rows } = await sql<{ ms: number }>`
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms`.execute(db)
  return rows[0]?.ms ?? Number.NaN
}

/** Returns how many ms this clock is at least ahead of the database's; negative if behind. */
export async function measureClockSkew(db: Queryable): Promise<number> {
  const before = Date.now()
  const theirs = await readDatabaseTime(db)
  const after = Date.now()
  if (theirs < before) return before - theirs
  return theirs > after ? after - theirs : 0
}

const JUMP_MS = 60_000
/** A slower answer is ignored, because it is unknown when its time was read. */
const LATE_MS = 10_000
const HOUR_MS = 3_600_000

type Options = {
  readTime: () => Promise<number>
  log: Pick<FastifyBaseLogger, 'error'>
  steadyMs?: number | undefined
  clock?: () => number
}

/** Creates a check of whether an hour has passed since its first call and the last clock jump. */
export function createSteadinessCheck({
  readTime,
  log,
  steadyMs = HOUR_MS,
  clock = () => performance.now(),
}: Options): () => Promise<boolean> {
  let steady: { difference: number; since: number } | undefined

  return async () => {
    const askedAt = clock()
    const time = await readTime()
    const now = clock()
    if (now - askedAt > LATE_MS) return false
    const difference = time - now
    steady ??= { difference, since: now }
    const jump = difference - steady.difference
    if (Math.abs(jump) > JUMP_MS) {
      log.error(
        { seconds: Math.round(jump / 1000) },
        'the clock has jumped: nothing is erased for an hour',
      )
      steady = { difference, since: now }
    }
    return now - steady.since >= steadyMs
  }
}
