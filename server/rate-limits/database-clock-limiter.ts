import type { Pool, QueryResult } from 'pg'
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible'

type Options = {
  pool: Pool
  tableName: string
  keyPrefix: string
  points: number
  /** The window, in seconds. */
  duration: number
}

/**
 * A window that ends later than one begun now was begun by a clock that was ahead; it counts as ended. What was refused meanwhile
 * does not use up what a refund ($2 below 0) gives back.
 */
const CHARGE = (table: string) => `
  INSERT INTO ${table} AS old (key, points, expire)
  SELECT $1, $2::integer, ms + $3::bigint FROM (SELECT (extract(epoch FROM now()) * 1000)::bigint AS ms) clock
  ON CONFLICT (key) DO UPDATE SET
    points = CASE WHEN old.expire > excluded.expire - $3::bigint AND old.expire <= excluded.expire
      THEN CASE WHEN $2 < 0 THEN least(old.points, $4) ELSE old.points END + excluded.points ELSE excluded.points END,
    expire = CASE WHEN old.expire > excluded.expire - $3::bigint AND old.expire <= excluded.expire
      THEN old.expire ELSE excluded.expire END
  RETURNING points, (expire - extract(epoch FROM now()) * 1000)::float8 AS wait`

/**
 * rate-limiter-flexible's PostgreSQL limiter, with windows that begin and end by the database's clock instead of each
 * node's. The two methods are those that the library leaves to its subclasses.
 */
export class DatabaseClockLimiter extends RateLimiterPostgres {
  readonly #pool: Pool
  readonly #charge: string

  constructor({ pool, tableName, ...window }: Options) {
    super({
      ...window,
      tableName,
      storeClient: pool,
      storeType: 'pool',
      tableCreated: true,
      clearExpiredByTimeout: false,
    })
    this.#pool = pool
    this.#charge = CHARGE(tableName)
  }

  _upsert(key: string, points: number, windowMs: number): Promise<QueryResult> {
    return this.#pool.query(this.#charge, [key, points, windowMs, this.points])
  }

  _getRateLimiterRes(_key: string, _points: number, { rows }: QueryResult): RateLimiterRes {
    const [{ points, wait }] = rows
    return Object.assign(new RateLimiterRes(), {
      msBeforeNext: Math.max(0, wait),
      consumedPoints: points,
      remainingPoints: Math.max(0, this.points - points),
      isFirstInDuration: false,
    })
  }
}
