import { statfs } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'
import { StartError } from '../start/start-error.ts'
import { type Address, addressOf, chooseAddress } from './address.ts'
import type { Place } from './cluster.ts'
import { connect, DataDirTaken, takeLock } from './lock.ts'
import { findRunning, type PidFile } from './pid-file.ts'
import { type Launched, launch } from './postmaster.ts'

const LONG_RECOVERY_MS = 2_000
const SILENCE_MS = 30_000
const MOST_FAILURES = 8
const LONGEST_PAUSE_MS = 5_000
/** A database that stays down is spoken of this seldom. */
const REMINDER_MS = 60_000
/** PostgreSQL needs room for one more piece of its write-ahead log (bytes) to serve. */
const WAL_SEGMENT = 16 * 1024 * 1024
// A killed server's last backends keep its cluster closed until they end; a server that is ending, until it has.
const PASSES_BY_ITSELF = /shared memory block|lock file/

/** What a start has got hold of so far. `address` is set by the first lock and never changes afterwards. */
export type Holding = {
  place: Place
  password: string | undefined
  address: Address | undefined
  /** What was started here and has not served yet. */
  launched: Launched | undefined
  lock: Client | undefined
  /** Resolves when the connection of `lock` has ended. */
  lost: Promise<void>
  failures: number
}

type Telling = { say: (line: string) => void; signal: AbortSignal }

/**
 * Resolves once a PostgreSQL serves and the lock on DATA_DIR is held: a running one is taken over, otherwise one is
 * started, with growing pauses between tries. At a start (`retry: 'passing'`) only failures that pass by themselves are
 * tried again, eight times; a database that has served before (`'any'`) is tried for as long as it takes, and why it
 * stays down is said once a minute. Throws DataDirTaken, the signal's reason, or what went wrong.
 */
export async function bringUp(
  holding: Holding,
  telling: Telling,
  retry: 'any' | 'passing',
): Promise<void> {
  let toldAt = Number.NEGATIVE_INFINITY
  for (;;) {
    await pauseAfter(holding.failures, telling.signal)
    try {
      await reach(holding, telling)
      return
    } catch (error) {
      holding.failures += 1
      if (error instanceof DataDirTaken || telling.signal.aborted) throw error
      if (retry === 'passing') {
        if (!PASSES_BY_ITSELF.test(String(error)) || holding.failures > MOST_FAILURES) throw error
      } else if (performance.now() - toldAt >= REMINDER_MS) {
        toldAt = performance.now()
        telling.say(`База данных не поднимается, пробуем дальше. ${messageOf(error)}`)
      }
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function pauseAfter(failures: number, signal: AbortSignal): Promise<void> {
  const pause = failures === 0 ? 0 : Math.min(50 * 2 ** (failures - 1), LONGEST_PAUSE_MS)
  return delay(pause, undefined, { signal })
}

async function reach(holding: Holding, telling: Telling): Promise<void> {
  const { place } = holding
  const keepPatience = patience(place, telling)
  for (let pause = 10; ; pause = Math.min(pause * 2, 100)) {
    telling.signal.throwIfAborted()
    const running = await findRunning(place.cluster)
    const address = await addressToTry(holding, running)
    const answer = await connect(place.cluster, address)
    if (typeof answer !== 'string') return hold(holding, address, answer)
    await ensureLaunched(holding, address)
    keepPatience(answer)
    const waiting = delay(pause, undefined, { signal: telling.signal })
    await Promise.race(holding.launched ? [waiting, holding.launched.exited] : [waiting])
  }
}

/** Until the first lock: wherever the server listens that another start may have left or just started. */
async function addressToTry(holding: Holding, running: PidFile | undefined): Promise<Address> {
  const { address, launched, password, place } = holding
  const told = running && addressOf(running, password)
  return (
    address ??
    told ??
    launched?.address ??
    (await chooseAddress(place.cluster, place.user, password))
  )
}

async function hold(holding: Holding, address: Address, lock: Client): Promise<void> {
  // From here on the server belongs to whoever has the lock, even if it was started here.
  holding.launched = undefined
  await takeLock(lock, holding.place.dataDir)
  holding.failures = 0
  holding.address = address
  holding.lock = lock
  holding.lost = new Promise((resolve) => {
    lock.once('end', () => {
      holding.lock = undefined
      resolve()
    })
  })
}

async function ensureLaunched(holding: Holding, address: Address): Promise<void> {
  const { launched, place } = holding
  if (launched && !launched.hasExited()) return
  holding.launched = undefined
  // Also when one launched here gave way to that of a simultaneous start.
  if (await findRunning(place.cluster)) return
  if (launched) throw new StartError(`PostgreSQL не запустился. ${await whyEnded(place, launched)}`)
  holding.launched = await launch(place, address)
}

/** On a full disk PostgreSQL cannot write into its log why it ended. */
async function whyEnded({ dataDir }: Place, { complaint }: Launched): Promise<string> {
  const { bavail, bsize } = await statfs(dataDir)
  const full =
    bavail * bsize < WAL_SEGMENT ? `На диске с ${dataDir} не осталось места: освободите его. ` : ''
  return full + (await complaint())
}

/** A recovering server may take its time and is spoken of; one that lives and says nothing is given up. */
function patience(place: Place, { say }: Telling): (answer: 'starting' | 'silent') => void {
  const since = performance.now()
  let silentSince = since
  let told = false
  return (answer) => {
    const now = performance.now()
    if (answer === 'starting') silentSince = now
    if (now - silentSince > SILENCE_MS) {
      throw new StartError(
        `PostgreSQL в ${place.cluster} запущен, но не отвечает. ` +
          'Завершите его процесс (номер в первой строке postmaster.pid) и запустите сервер снова.',
      )
    }
    if (told || now - since < LONG_RECOVERY_MS) return
    told = true
    say('База данных ещё не готова: восстанавливается или завершает прежнюю работу. Ждём…')
  }
}
