import { LIVE_BEAT, LIVE_FORMER, LIVE_PATH, LIVE_RECENT_MS } from '../../../contract/constants.ts'
import { createEmitter } from '../../platform/atom.ts'
import { createTabChannel } from '../../platform/tab-channel.ts'
import { wait } from '../../platform/timing.ts'
import { hasLocks, withLock } from '../../platform/with-lock.ts'

/**
 * `newest` and `by` are the newest post of the wall and its author. `to` lists users with new
 * replies, and these replies as `<post>:<reply>:<author>`.
 */
type Named = { newest?: string; by?: string; to?: readonly string[] | 'many' }
/** `former` news is older, and its posts may be deleted. */
export type NamedNews = Named & { kind: 'new' | 'former' }
export type News = NamedNews | { kind: 'missed' }

const MISSED: News = { kind: 'missed' }

/** After this wait for the first byte, the client assumes that a proxy buffers the stream. */
const FIRST_BYTE_MS = 4000
/** The server sends a heartbeat every 20 s: after this silence, the stream counts as dead. */
const SILENT_MS = 45_000
const POLL_MS = 60_000
const HIDDEN_MS = 30_000

const relay = createTabChannel<News>('live')
/** A tab that begins to listen asks for the news that came while its page was loading. */
const beginnings = createTabChannel<null>('live-beginnings')
const news = createEmitter<News>(connect)
let recent: { event: NamedNews; at: number }[] = []

/** Calls a listener with all news. Returns the function that unsubscribes it. */
export const onNews = news.subscribe

/** Calls `listener` if the user may have new replies. Returns the function that unsubscribes it. */
export function onAnswered(userId: string, listener: () => void): () => void {
  return news.subscribe((event) => {
    const isMissed = event.kind === 'missed' || event.to === 'many'
    if (isMissed || event.to?.includes(userId)) listener()
  })
}

/**
 * One visible tab of the browser holds the stream and relays it to the others. Without locks each
 * visible tab has its own, and closes it as soon as it is hidden, because a browser opens only six
 * connections to a host.
 */
function connect(): () => void {
  let holding: AbortController | undefined
  let hiddenAt = 0
  const hiddenMs = hasLocks() ? HIDDEN_MS : 0
  // A tab that has let go emits MISSED when it becomes visible.
  const stopRelay = relay.subscribe((event) => hasLocks() && holding && news.emit(event))
  let leaving: ReturnType<typeof setTimeout> | undefined

  function begin(): void {
    clearTimeout(leaving)
    if (holding) return
    holding = new AbortController()
    const { signal } = holding
    // The request for the lock rejects if it is aborted.
    withLock('live', { signal }, () => holdStream(signal)).catch(() => {})
  }

  function letGo(): void {
    holding?.abort()
    holding = undefined
  }

  function onVisibilityChange(): void {
    if (document.visibilityState === 'hidden') {
      hiddenAt = Date.now()
      leaving = setTimeout(letGo, hiddenMs)
    } else {
      // The timers of a tab that was frozen have not run.
      if (Date.now() - hiddenAt >= hiddenMs) letGo()
      if (!holding) news.emit(MISSED)
      begin()
    }
  }

  beginnings.post(null)
  onVisibilityChange()
  document.addEventListener('visibilitychange', onVisibilityChange)
  return () => {
    document.removeEventListener('visibilitychange', onVisibilityChange)
    clearTimeout(leaving)
    letGo()
    stopRelay()
  }
}

/** Follows the stream. After a failure, reconnects once a minute, and emits MISSED. */
async function holdStream(signal: AbortSignal): Promise<void> {
  const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve))
  const stopRepeating = beginnings.subscribe(repeatRecent)
  while (!signal.aborted) {
    const end = await followStream(aborted)
    if (end !== 'silent') await Promise.race([wait(POLL_MS), aborted])
    if (!signal.aborted) tell(MISSED)
  }
  stopRepeating()
}

/** Resolves when the stream fails, goes silent, or is no longer wanted. */
async function followStream(unwanted: Promise<unknown>): Promise<unknown> {
  const { promise: ended, resolve } = Promise.withResolvers<unknown>()
  const source = new EventSource(LIVE_PATH)
  let late = setTimeout(resolve, FIRST_BYTE_MS)
  const onSign = () => {
    clearTimeout(late)
    late = setTimeout(resolve, SILENT_MS, 'silent')
  }
  for (const name of ['open', 'message', LIVE_FORMER, LIVE_BEAT]) {
    source.addEventListener(name, onSign)
  }
  let isAgain = false
  source.onopen = () => {
    // News between the two connections was lost.
    if (isAgain) tell(MISSED)
    isAgain = true
  }
  const onNamed = (kind: NamedNews['kind']) => (event: MessageEvent<string>) =>
    tell({ ...JSON.parse(event.data), kind })
  source.onmessage = onNamed('new')
  source.addEventListener(LIVE_FORMER, onNamed('former'))
  // Unless it is closed, the browser reconnects by itself, after the `retry` that the server sent.
  source.onerror = () => source.readyState === EventSource.CLOSED && resolve('refused')
  const end = await Promise.race([ended, unwanted])
  clearTimeout(late)
  source.close()
  return end
}

function tell(event: News): void {
  news.emit(event)
  relay.post(event)
  if (event.kind !== 'missed') recent = [...recentEvents(), { event, at: Date.now() }]
}

function repeatRecent(): void {
  for (const { event } of recentEvents()) relay.post({ ...event, kind: 'former' })
}

function recentEvents() {
  return recent.filter(({ at }) => at > Date.now() - LIVE_RECENT_MS)
}
