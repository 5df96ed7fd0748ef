import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { openClient } from '../../kernel/db/database.ts'
import { errorCode, isConnectionLost } from '../../kernel/db/database-errors.ts'

/** The lock that commands share while they use the database. No other lock has this number. */
const USED_LOCK = 7_203_552
const POLL_MS = 100
const CONNECT_MS = 10_000

const connect = (url: string) =>
  openClient(url, 'vslukh command', { connectionTimeoutMillis: CONNECT_MS })

const tryLock = async (client: pg.Client, lock: string) =>
  (await client.query(`SELECT pg_try_advisory_lock${lock}(${USED_LOCK}) AS is_ours`)).rows[0]
    .is_ours

/** SQLSTATEs of a role and a database that a first start has not created yet. */
const MISSING = /^(28|3D)/

/**
 * Keeps other commands from stopping the database until `stop`. Returns undefined while it starts
 * or stops. Throws the error of a database that refuses, for example because its disk is full.
 */
export async function joinDatabase(
  url: string,
): Promise<{ url: string; stop: () => Promise<void> } | undefined> {
  const unlessRefused = (error: Error) => {
    const isAnswer = error instanceof pg.DatabaseError
    if (isAnswer && !isConnectionLost(error) && !MISSING.test(errorCode(error))) throw error
    return undefined
  }
  const client = await connect(url).catch(unlessRefused)
  if (!client) return undefined
  const stop = () => client.end().catch(() => {})
  if (await tryLock(client, '_shared').catch(() => false)) return { url, stop }
  await stop()
  return undefined
}

/** Waits until no other command uses the database. None can join until the connection ends. */
export async function waitForOthers(
  url: string,
  say: (line: string) => void,
): Promise<pg.Client | undefined> {
  const client = await connect(url).catch(() => undefined)
  if (!client) return undefined
  for (let tries = 0; !(await tryLock(client, '').catch(() => true)); tries++) {
    if (tries === 0) say('С базой данных ещё работает другая команда, ждём её конца…')
    await delay(POLL_MS)
  }
  return client
}
