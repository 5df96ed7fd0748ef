import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { makeDataDir } from '../start/data-dir.ts'
import { connectionStringFor } from './address.ts'
import { findBinaries } from './binaries.ts'
import { bringUp, type Holding } from './bring-up.ts'
import {
  createCluster,
  hasCluster,
  keepPassword,
  type Place,
  removeUnfinished,
  requireSameMajor,
} from './cluster.ts'
import { createDatabase } from './lock.ts'
import { boundLog } from './log-file.ts'
import { chooseOsUser } from './os-user.ts'
import { findRunning } from './pid-file.ts'
import { logPath, stopPostmaster } from './postmaster.ts'

const DATABASE = 'vslukh'
const LOG_CHECK_MS = 60 * 60 * 1000
const SHORT_LIFE_MS = 1_000

type EmbeddedPostgresOptions = {
  dataDir: string
  /** Takes lines in Russian for the terminal. */
  say: (line: string) => void
  /** Called once when PostgreSQL was lost and another server took DATA_DIR meanwhile. */
  onLost: (error: Error) => void
  /** Aborting it during the start undoes the start, which then rejects. Later it does nothing. */
  signal?: AbortSignal
}

export type EmbeddedPostgres = {
  /** For `pg`; stays the same, and valid, when PostgreSQL is started again. */
  connectionString: string
  /** Resolves when PostgreSQL is gone, seven seconds at most. Close the pool before. Calling it again is harmless. */
  stop: () => Promise<void>
}

/**
 * Starts PostgreSQL on DATA_DIR/postgres, making it at the first start, or takes over the one that a killed server left
 * running, and keeps it running until `stop`. Rejects with a sentence for the operator, among others when another
 * server uses DATA_DIR.
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const holding = await prepare(options)
  const stopping = new AbortController()
  const starting = options.signal ?? stopping.signal
  try {
    if (await findRunning(holding.place.cluster)) {
      options.say('Найдена работающая база данных, подключаемся к ней…')
    }
    await bringUp(holding, { say: options.say, signal: starting }, 'passing')
    await settleIn(holding)
    starting.throwIfAborted()
  } catch (error) {
    await shutDown(holding)
    throw error
  }
  return keep(holding, options, stopping)
}

async function prepare(options: EmbeddedPostgresOptions): Promise<Holding> {
  const binaries = findBinaries()
  await makeDataDir(options.dataDir)
  const dataDir = await realpath(options.dataDir)
  const user = await chooseOsUser(binaries.postgres, dataDir)
  const password = process.platform === 'win32' ? await keepPassword(dataDir) : undefined
  const place: Place = { dataDir, cluster: join(dataDir, 'postgres'), binaries, user }
  if (!hasCluster(place.cluster)) {
    options.say(`Создаём базу данных в ${place.cluster}…`)
    await createCluster(place, password)
  }
  requireSameMajor(place.cluster, binaries)
  place.cluster = await realpath(place.cluster)
  return {
    place,
    password,
    address: undefined,
    launched: undefined,
    lock: undefined,
    lost: Promise.resolve(),
    failures: 0,
  }
}

async function settleIn({ lock, password, place }: Holding): Promise<void> {
  if (!lock) return
  await createDatabase(lock, DATABASE, password)
  await removeUnfinished(place.dataDir)
}

/** Watches the connection that holds the lock: whatever happens to PostgreSQL, that connection ends. */
function keep(
  holding: Holding,
  { onLost, say }: EmbeddedPostgresOptions,
  stopping: AbortController,
): EmbeddedPostgres {
  const { signal } = stopping
  let recovery = Promise.resolve()
  let shortLives = 0

  const watch = () => {
    const since = performance.now()
    holding.lost.then(() => {
      if (!signal.aborted) recovery = recover(performance.now() - since)
    })
  }

  const recover = async (heldMs: number) => {
    say('Связь с базой данных потеряна, поднимаем её снова…')
    shortLives = heldMs < SHORT_LIFE_MS ? shortLives + 1 : 0
    try {
      // One that comes back each time only to fall at once must not eat the machine.
      if (shortLives > 0) await delay(Math.min(50 * 2 ** shortLives, 1_000), undefined, { signal })
      await bringUp(holding, { say, signal }, 'any')
      watch()
      say('База данных снова работает.')
    } catch (error) {
      if (!signal.aborted) onLost(error instanceof Error ? error : new Error(String(error)))
    }
  }

  const log = logPath(holding.place.dataDir)
  const logCheck = setInterval(() => boundLog(log).catch(() => {}), LOG_CHECK_MS).unref()
  let stopped: Promise<void> | undefined
  const stop = async () => {
    clearInterval(logCheck)
    stopping.abort()
    await recovery
    await shutDown(holding)
  }

  watch()
  if (!holding.address) throw new Error('bringUp always leaves an address')
  return {
    connectionString: connectionStringFor(holding.address, DATABASE, DATABASE),
    stop: () => {
      stopped ??= stop()
      return stopped
    },
  }
}

async function shutDown(holding: Holding): Promise<void> {
  await stopPostmaster(holding.place, holding.launched, holding.lock !== undefined)
  await holding.lock?.end().catch(() => {})
}
