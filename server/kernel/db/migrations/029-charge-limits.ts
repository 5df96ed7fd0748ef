import { type Kysely, sql } from 'kysely'

export const isAdditive = false

const STATEMENTS = [
  // Calls that count for the same keys wait for each other, in one order. A refusal stores no row.
  `CREATE FUNCTION lock_limits(keys text[]) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_advisory_xact_lock(number)
      FROM (SELECT DISTINCT hashtextextended(key, 0) AS number FROM unnest(keys) AS key
        ORDER BY number) AS locks;
    END $$`,
  // Counts one event for each key, or for none. Of each key so many pass at once as bursts says,
  // and then one in so many seconds as steps says. Returns the seconds to wait for each key.
  `CREATE FUNCTION charge_limits(keys text[], steps float8[], bursts float8[]) RETURNS float8[]
    LANGUAGE plpgsql AS $$
    DECLARE
      moment timestamptz;
      waits float8[];
    BEGIN
      PERFORM lock_limits(keys);
      -- now() could be earlier than what others have counted meanwhile.
      moment := clock_timestamp();

      -- What a clock that was ahead has counted does not count.
      waits := ARRAY(
        SELECT coalesce(greatest(0,
          extract(epoch FROM counted.arrival - moment) - (asked.burst - 1) * asked.step), 0)
        FROM unnest(keys, steps, bursts) WITH ORDINALITY AS asked (key, step, burst, place)
        LEFT JOIN rate_limits AS counted ON counted.key = asked.key
          AND counted.charged_at <= moment + interval '1 minute'
        ORDER BY asked.place);
      IF 0 < ANY (waits) THEN
        RETURN waits;
      END IF;

      INSERT INTO rate_limits AS counted (key, arrival, charged_at)
      SELECT asked.key, moment + asked.step * interval '1 second', moment
      FROM unnest(keys, steps) AS asked (key, step)
      ON CONFLICT (key) DO UPDATE SET
        charged_at = excluded.charged_at,
        arrival = excluded.arrival + CASE
          WHEN counted.charged_at > moment + interval '1 minute' THEN interval '0'
          ELSE greatest(interval '0', counted.arrival - moment) END;
      RETURN waits;
    END $$`,
  // Takes one event of each place in the list back.
  `CREATE FUNCTION refund_limits(keys text[], steps float8[]) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM lock_limits(keys);
      UPDATE rate_limits AS counted SET arrival = counted.arrival - refunded.total
      FROM (SELECT key, sum(step) * interval '1 second' AS total
        FROM unnest(keys, steps) AS asked (key, step) GROUP BY key) AS refunded
      WHERE counted.key = refunded.key;
    END $$`,
  // An operation and its mail are stored in one transaction, or neither is.
  'DELETE FROM codes WHERE NOT is_mailed',
  `ALTER TABLE codes DROP is_mailed, ADD mails smallint NOT NULL DEFAULT 0,
    ADD known_by text CHECK (known_by IN ('browser', 'network'))`,
  // Three bytes of a keyed hash of the account and the network.
  'ALTER TABLE sessions ADD network_hash bytea',
]

/** Charges several limits in one statement, all or none of them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}
