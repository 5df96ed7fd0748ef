import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDataDir } from '../start/data-dir.ts'
import { connectionStringFor } from './address.ts'
import { findBinaries } from './binaries.ts'
import { bringUp, type ServerState } from './bring-up.ts'
import {
  type ClusterPaths,
  createCluster,
  DATABASE,
  hasCluster,
  removeUnfinished,
  requireSameMajor,
} from './cluster.ts'
import { chooseOsUser } from './os-user.ts'
import { findRunning } from './pid-file.ts'
import { limitLogSize, logPath, stopPostmaster } from './postmaster.ts'

const LOG_CHECK_MS = 60 * 60 * 1000
const SHORT_LIFE_MS = 1_000

type EmbeddedPostgresOptions = {
  dataDir: string
  say: (line: string) => void
  settings?: string[]
  /** The major version whose installed programs are preferred to the embedded ones. */
  major?: string | undefined
  /** Aborting the signal undoes the start, which then rejects. */
  signal?: AbortSignal
}

export type EmbeddedPostgres = {
  /** Stays valid when PostgreSQL is started again. */
  connectionString: string
  /** Stops PostgreSQL, and resolves within seven seconds. Close the pool before. */
  stop: () => Promise<void>
}

/** Keeps PostgreSQL running on DATA_DIR/postgres until `stop`. Rejects with StartError. */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const state = await prepare(options)
  const stopping = new AbortController()
  const starting = options.signal ?? stopping.signal
  try {
    if (await findRunning(state.paths.cluster)) {
      options.say('Найдена работающая база данных, подключаемся к ней…')
    }
    await bringUp(state, { say: options.say, signal: starting }, 'temporary')
    if (state.lock) await removeUnfinished(state.paths.dataDir)
    starting.throwIfAborted()
  } catch (error) {
    await shutDown(state)
    throw error
  }
  return supervise(state, options, stopping)
}

async function prepare(options: EmbeddedPostgresOptions): Promise<ServerState> {
  const binaries = findBinaries(options.major)
  await makeDataDir(options.dataDir)
  const dataDir = await realpath(options.dataDir)
  const user = await chooseOsUser(binaries.postgres, dataDir)
  const paths: ClusterPaths = { dataDir, cluster: join(dataDir, 'postgres'), binaries, user }
  if (!hasCluster(paths.cluster)) {
    options.say(`Создаём базу данных в ${paths.cluster}…`)
    await createCluster(paths)
  }
  requireSameMajor(paths.cluster, binaries)
  paths.cluster = await realpath(paths.cluster)
  return { paths, settings: options.settings ?? [], lost: Promise.resolve(), failures: 0 }
}

/** Restarts PostgreSQL at the same address when the connection that holds the lock has ended. */
function supervise(
  state: ServerState,
  { say }: EmbeddedPostgresOptions,
  stopping: AbortController,
): EmbeddedPostgres {
  const { signal } = stopping
  let recovery = Promise.resolve()

  const watch = () => {
    const since = performance.now()
    state.lost.then(() => {
      if (signal.aborted) return
      // A PostgreSQL that fails again each time at once must not use up the machine.
      state.failures = performance.now() - since < SHORT_LIFE_MS ? state.failures + 1 : 0
      recovery = recover()
    })
  }

  const recover = async () => {
    say('Связь с базой данных потеряна, поднимаем её снова…')
    try {
      await bringUp(state, { say, signal }, 'any')
    } catch {
      // Rejects only after `stop`.
      return
    }
    watch()
    say('База данных снова работает.')
  }

  const log = logPath(state.paths.dataDir)
  const logCheck = setInterval(() => limitLogSize(log).catch(() => {}), LOG_CHECK_MS).unref()
  let stopped: Promise<void> | undefined
  const stop = async () => {
    clearInterval(logCheck)
    stopping.abort()
    await recovery
    await shutDown(state)
  }

  watch()
  if (!state.address) throw new Error('bringUp did not set an address')
  return {
    connectionString: connectionStringFor(state.address, DATABASE, DATABASE),
    stop: () => {
      stopped ??= stop()
      return stopped
    },
  }
}

async function shutDown(state: ServerState): Promise<void> {
  await stopPostmaster(state.paths, state.launched, state.lock !== undefined)
  await state.lock?.end().catch(() => {})
}
