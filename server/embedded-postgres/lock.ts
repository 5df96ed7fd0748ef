import { Client } from 'pg'
import { errorCode } from '../db/database-errors.ts'
import { StartError } from '../start/start-error.ts'
import type { Address } from './address.ts'
import { SUPERUSER } from './cluster.ts'
import { parsePidFile, readPidFile } from './pid-file.ts'

// Any constant: the lock lives in the maintenance database, where nothing else takes one.
const LOCK = 1
const LOCK_NOT_AVAILABLE = '55P03'
const CANNOT_CONNECT_NOW = '57P03'
const WRONG_CREDENTIALS_OR_MISSING = /^(28|3D|42)/

/** Another server lives on this DATA_DIR. */
export class DataDirTaken extends StartError {
  constructor(dataDir: string) {
    super(
      `Папка данных ${dataDir} уже занята другим запущенным сервером. ` +
        'Остановите его или укажите другую папку в DATA_DIR.',
    )
  }
}

/**
 * A superuser's connection to the PostgreSQL of this very cluster; 'starting' while it is not ready (recovery,
 * shutdown), 'silent' when nobody or somebody else answers at that address.
 */
export async function connect(
  cluster: string,
  address: Address,
): Promise<Client | 'starting' | 'silent'> {
  const client = new Client({
    ...address,
    user: SUPERUSER,
    database: 'postgres',
    ssl: false,
    keepAlive: true,
    connectionTimeoutMillis: 5_000,
    // A server killed a moment ago may need a moment to let go of the lock.
    options: '-c lock_timeout=2s -c statement_timeout=0 -c idle_session_timeout=0',
  })
  // The 'end' event tells all there is to know; without a listener 'error' would end the process.
  client.on('error', () => {})
  try {
    await client.connect()
    if (await serves(client, cluster)) return client
    await client.end()
    return 'silent'
  } catch (error) {
    client.end().catch(() => {})
    if (WRONG_CREDENTIALS_OR_MISSING.test(errorCode(error))) throw error
    return errorCode(error) === CANNOT_CONNECT_NOW ? 'starting' : 'silent'
  }
}

/** A removed or copied cluster may have left a server at the same address: it reads another file than we do. */
async function serves(client: Client, cluster: string): Promise<boolean> {
  const { rows } = await client.query<{ file: string }>(
    `select pg_read_file('postmaster.pid', 0, 4096, true) as file`,
  )
  const theirs = parsePidFile(rows[0]?.file ?? '').identity
  return theirs === (await readPidFile(cluster))?.identity
}

/**
 * Takes the lock that says who uses DATA_DIR. It belongs to the connection and so goes with the process, however that
 * ends. Throws DataDirTaken after two seconds.
 */
export async function takeLock(client: Client, dataDir: string): Promise<void> {
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK])
  } catch (error) {
    client.end().catch(() => {})
    throw errorCode(error) === LOCK_NOT_AVAILABLE ? new DataDirTaken(dataDir) : error
  }
}

/**
 * Creates the application's role and database where they are missing: a role that owns its database and may do nothing
 * else. Expects the lock to be held.
 */
export async function createDatabase(
  client: Client,
  name: string,
  password: string | undefined,
): Promise<void> {
  const role = await client.query<{ createdb: boolean }>(
    'select rolcreatedb as createdb from pg_roles where rolname = $1',
    [name],
  )
  if (role.rowCount === 0) {
    const secret = password ? ` password '${password}'` : ''
    await client.query(`create role ${name} login${secret}`)
  }
  // Earlier versions let it create databases, which it never needed.
  if (role.rows[0]?.createdb) await client.query(`alter role ${name} nocreatedb`)
  const database = await client.query('select from pg_database where datname = $1', [name])
  if (database.rowCount === 0) await client.query(`create database ${name} owner ${name}`)
}
