import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'
import { isConnectionLost } from '../../kernel/db/database-errors.ts'
import { StartError } from '../../kernel/errors/app-error.ts'
import { freeBytes } from '../../kernel/http/health.ts'
import { explainStartFailure } from '../start/start-failure.ts'
import { type Address, chooseAddress } from './address.ts'
import type { ClusterPaths } from './cluster.ts'
import { connect, createDatabase, DataDirTaken, isLasting, takeLock } from './lock.ts'
import { isServerOf, readPidFile } from './pid-file.ts'
import { failureReason, hasExited, type LaunchedServer, launch } from './postmaster.ts'

const LONG_RECOVERY_MS = 2_000
const SILENCE_MS = 30_000
const MAX_FAILURES = 8
const LONGEST_PAUSE_MS = 5_000
const REMINDER_MS = 60_000
/** The bytes of a WAL segment. PostgreSQL serves only with room for one more segment. */
const WAL_SEGMENT = 16 * 1024 * 1024
// Matches failures that pass when the last backends of a killed or stopping server have ended.
const TEMPORARY_FAILURE = /shared memory block|lock file/

export type ServerState = {
  paths: ClusterPaths
  settings: string[]
  /** The PostgreSQL that was started here last, unless another process holds the lock. */
  server?: LaunchedServer | undefined
  lock?: Client | undefined
  /** Resolves when the connection that holds the lock has ended. */
  lockLost: Promise<void>
  failures: number
}

type Reporting = { say: (line: string) => void; signal: AbortSignal }

/**
 * Takes over a running PostgreSQL or starts one, and takes the lock on DATA_DIR. With `'temporary'`
 * it retries failures that pass by themselves, up to eight times; with `'any'` it retries every
 * failure until it succeeds. Throws the last failure, or when the signal aborts.
 */
export async function bringUp(
  state: ServerState,
  reporting: Reporting,
  retry: 'any' | 'temporary',
): Promise<void> {
  let reportedAt = Number.NEGATIVE_INFINITY
  for (;;) {
    await pauseAfter(state.failures, reporting.signal)
    try {
      return await connectOrLaunch(state, reporting)
    } catch (error) {
      state.failures += 1
      if (reporting.signal.aborted) throw error
      if (retry === 'temporary') {
        if (!isTemporary(error as Error) || state.failures > MAX_FAILURES) throw error
      } else if (performance.now() - reportedAt >= REMINDER_MS) {
        reportedAt = performance.now()
        reporting.say(`База данных не поднимается, пробуем дальше. ${explainStartFailure(error)}`)
      }
    }
  }
}

// A lost connection is temporary: the lock's holder may stop its PostgreSQL during the wait.
function isTemporary(error: Error): boolean {
  if (isLasting(error)) return false
  return TEMPORARY_FAILURE.test(String(error)) || isConnectionLost(error)
}

function pauseAfter(failures: number, signal: AbortSignal): Promise<void> {
  const pause = failures === 0 ? 0 : Math.min(50 * 2 ** (failures - 1), LONGEST_PAUSE_MS)
  return delay(pause, undefined, { signal })
}

async function connectOrLaunch(state: ServerState, reporting: Reporting): Promise<void> {
  const { paths } = state
  const reportProgress = watchProgress(paths, reporting)
  const address = await chooseAddress(paths.cluster, paths.user)
  for (let pause = 10; ; pause = Math.min(pause * 2, 100)) {
    reporting.signal.throwIfAborted()
    const answer = await connect(address)
    if (typeof answer !== 'string') return takeOver(state, answer)
    await ensureLaunched(state, address)
    reportProgress(answer)
    const waiting = delay(pause, undefined, { signal: reporting.signal })
    await Promise.race([waiting, state.server?.exit ?? waiting])
  }
}

async function takeOver(state: ServerState, lock: Client): Promise<void> {
  if (state.server) state.server.hasServed = true
  try {
    await takeLock(lock, state.paths.dataDir)
    await createDatabase(lock)
  } catch (error) {
    if (error instanceof DataDirTaken) state.server = undefined
    lock.end().catch(() => {})
    throw error
  }
  state.lock = lock
  state.lockLost = new Promise((resolve) => {
    lock.once('end', () => {
      state.lock = undefined
      resolve()
    })
  })
}

async function ensureLaunched(state: ServerState, address: Address): Promise<void> {
  const { server: launched, paths } = state
  if (launched && !hasExited(launched)) return
  state.server = undefined
  const left = await readPidFile(paths.cluster)
  // Leaves the cluster to the server of a simultaneous start.
  if (left && (await isServerOf(left.pid, paths.cluster))) return
  // PostgreSQL exits with 0 if it was stopped from outside.
  if (launched && !launched.hasServed && launched.child.exitCode !== 0) {
    throw new StartError(`PostgreSQL не запустился. ${await whyEnded(paths, launched)}`)
  }
  state.server = await launch(paths, address, { ...state, stalePid: left?.pid })
}

/** Returns why PostgreSQL ended. On a full disk its log cannot contain the reason. */
async function whyEnded({ dataDir }: ClusterPaths, launched: LaunchedServer): Promise<string> {
  return (await freeBytes(dataDir)) < WAL_SEGMENT
    ? `На диске с ${dataDir} не осталось места: освободите его.`
    : failureReason(dataDir, launched)
}

/** Returns a function that reports a long recovery, and throws StartError after 30 s of silence. */
function watchProgress(
  paths: ClusterPaths,
  { say }: Reporting,
): (answer: 'starting' | 'silent') => void {
  const since = performance.now()
  let silentSince = since
  let isReported = false
  return (answer) => {
    const now = performance.now()
    if (answer === 'starting') silentSince = now
    if (now - silentSince > SILENCE_MS) {
      throw new StartError(
        `PostgreSQL в ${paths.cluster} запущен, но не отвечает. ` +
          'Завершите его процесс (номер в первой строке postmaster.pid) и запустите сервер снова.',
      )
    }
    if (isReported || now - since < LONG_RECOVERY_MS) return
    isReported = true
    say('База данных ещё не готова: восстанавливается или завершает прежнюю работу. Ждём…')
  }
}
