import { once } from 'node:events'
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDataDir } from '../start/data-dir.ts'
import { chooseAddress, connectionStringFor } from './address.ts'
import { findBinaries } from './binaries.ts'
import { bringUp, type ServerState } from './bring-up.ts'
import {
  type ClusterPaths,
  createCluster,
  DATABASE,
  hasCluster,
  removeUnfinishedClusters,
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
  signal?: AbortSignal | undefined
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
  const { say, signal = new AbortController().signal } = options
  const state = await prepare(options)
  const { dataDir, cluster, user } = state.paths
  try {
    if (await findRunning(cluster)) say('Найдена работающая база данных, подключаемся к ней…')
    await bringUp(state, { say, signal }, 'temporary')
    if (state.lock) await removeUnfinishedClusters(dataDir)
    signal.throwIfAborted()
  } catch (error) {
    await shutDown(state)
    throw error
  }
  const address = await chooseAddress(cluster, user)
  const stopping = new AbortController()
  // Rejects only once `stop` has aborted it.
  const supervising = supervise(state, say, stopping.signal).catch(() => {})
  const limitLog = () => limitLogSize(logPath(dataDir)).catch(() => {})
  const logCheck = setInterval(limitLog, LOG_CHECK_MS).unref()
  const stop = async () => {
    clearInterval(logCheck)
    stopping.abort()
    await supervising
    await shutDown(state)
  }
  let stopped: Promise<void> | undefined
  return {
    connectionString: connectionStringFor(address, DATABASE, DATABASE),
    stop: () => {
      stopped ??= stop()
      return stopped
    },
  }
}

async function prepare(options: EmbeddedPostgresOptions): Promise<ServerState> {
  const binaries = await findBinaries(options.major)
  await makeDataDir(options.dataDir)
  const dataDir = await realpath(options.dataDir)
  const user = await chooseOsUser(binaries.postgres, dataDir)
  const paths: ClusterPaths = { dataDir, cluster: join(dataDir, 'postgres'), binaries, user }
  if (!(await hasCluster(paths.cluster))) {
    options.say(`Создаём базу данных в ${paths.cluster}…`)
    await createCluster(paths)
  }
  await requireSameMajor(paths.cluster, binaries)
  paths.cluster = await realpath(paths.cluster)
  return { paths, settings: options.settings ?? [], lockLost: Promise.resolve(), failures: 0 }
}

/** Restarts PostgreSQL whenever the connection that holds the lock has ended, until the signal. */
async function supervise(
  state: ServerState,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const stopping = once(signal, 'abort')
  for (;;) {
    const since = performance.now()
    await Promise.race([state.lockLost, stopping])
    signal.throwIfAborted()
    // A PostgreSQL that fails again each time at once must not use up the machine.
    state.failures = performance.now() - since < SHORT_LIFE_MS ? state.failures + 1 : 0
    say('Связь с базой данных потеряна, поднимаем её снова…')
    await bringUp(state, { say, signal }, 'any')
    say('База данных снова работает.')
  }
}

async function shutDown(state: ServerState): Promise<void> {
  await stopPostmaster(state.paths, state.server, state.lock !== undefined)
  await state.lock?.end().catch(() => {})
}
