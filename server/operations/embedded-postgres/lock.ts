import { Client } from 'pg'
import { openClient } from '../../kernel/db/database.ts'
import { errorCode, isOutOfConnections } from '../../kernel/db/database-errors.ts'
import { COUNT_NODES } from '../../kernel/db/nodes.ts'
import { StartError } from '../../kernel/errors/app-error.ts'
import type { Address } from './address.ts'
import { DATABASE, SUPERUSER } from './cluster.ts'

const LOCK = 1
const CONNECT_MS = 5_000
const LOCK_NOT_AVAILABLE = '55P03'
const CANNOT_CONNECT_NOW = '57P03'
/** SQLSTATEs of a login, a catalog, a full disk or too many connections: waiting does not help. */
const LASTING_ERROR = /^(28|3D|42|53100|53300)/

export const isLasting = (error: unknown) => LASTING_ERROR.test(errorCode(error))

export class DataDirTaken extends StartError {
  constructor(dataDir: string) {
    super(
      `Папка данных ${dataDir} уже занята: с ней работает другой сервер или другая команда. ` +
        'Остановите их или укажите другую папку в DATA_DIR.',
    )
  }
}

/** Connects. Resolves to 'starting' during a recovery, and to 'silent' without an answer. */
export async function connect(address: Address): Promise<Client | 'starting' | 'silent'> {
  const client = new Client({
    ...address,
    user: SUPERUSER,
    database: 'postgres',
    ssl: false,
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_MS,
    // The connection of a server that was just killed may hold the lock for a moment longer.
    options: '-c lock_timeout=2s -c statement_timeout=0 -c idle_session_timeout=0',
  })
  // Without a listener 'error' would end the process; 'end' follows.
  client.on('error', () => {})
  try {
    await client.connect()
    return client
  } catch (error) {
    client.end().catch(() => {})
    if (isLasting(error)) throw error
    return errorCode(error) === CANNOT_CONNECT_NOW ? 'starting' : 'silent'
  }
}

/** Takes the lock, which ends with the connection. Throws DataDirTaken after its lock_timeout. */
export async function takeLock(client: Client, dataDir: string): Promise<void> {
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK])
  } catch (error) {
    throw errorCode(error) === LOCK_NOT_AVAILABLE ? new DataDirTaken(dataDir) : error
  }
}

/** Creates the role and its database if they do not exist. The caller must hold the lock. */
export async function createDatabase(client: Client): Promise<void> {
  const role = await client.query('select from pg_roles where rolname = $1', [DATABASE])
  if (role.rowCount === 0) await client.query(`create role ${DATABASE} login`)
  const database = await client.query('select from pg_database where datname = $1', [DATABASE])
  if (database.rowCount === 0) await client.query(`create database ${DATABASE} owner ${DATABASE}`)
}

/**
 * Returns whether a server, and not only another command, keeps the database running. Rejects if
 * the database takes no more connections.
 */
export async function isServed(url: string): Promise<boolean> {
  try {
    const limits = { connectionTimeoutMillis: CONNECT_MS, query_timeout: CONNECT_MS }
    await using client = await openClient(url, 'vslukh command', limits)
    return (await client.query(COUNT_NODES)).rows[0].nodes > 0
  } catch (error) {
    if (isOutOfConnections(error as Error)) throw error
    return false
  }
}
