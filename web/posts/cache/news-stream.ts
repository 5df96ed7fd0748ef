import { LIVE_BEAT, LIVE_FORMER, LIVE_PATH } from '../../../contract/constants.ts'
import { createEmitter } from '../../platform/atom.ts'
import { wait } from '../../platform/timing.ts'

/**
 * `newest` and `by` are the newest post of the wall and its author. `to` lists users with new
 * replies, and these replies as `<post>:<reply>:<author>`. `former` news is older, and its posts
 * may be deleted.
 */
export type NamedNews = {
  kind: 'new' | 'former'
  newest?: string
  by?: string
  to?: readonly string[] | 'many'
}
export type News = NamedNews | { kind: 'missed' }

const MISSED: News = { kind: 'missed' }

/** The server sends a heartbeat every 20 s: a silent stream is dead, or a proxy buffers it. */
const SILENT_MS = 45_000
const REFUSED_MS = 60_000
const HIDDEN_MS = 30_000

const news = createEmitter<News>(connect)

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
 * Each visible tab has a stream. A hidden tab closes it after a while; on plain http at once,
 * because browsers then open only six connections to a host.
 */
function connect(): () => void {
  const hiddenMs = location.protocol === 'https:' ? HIDDEN_MS : 0
  let wanted: AbortController | undefined
  let hiddenAt = 0
  let leaving: ReturnType<typeof setTimeout> | undefined

  function close(): void {
    clearTimeout(leaving)
    wanted?.abort()
    wanted = undefined
  }

  function onVisibilityChange(): void {
    clearTimeout(leaving)
    if (document.visibilityState === 'hidden') {
      hiddenAt = Date.now()
      leaving = setTimeout(close, hiddenMs)
      return
    }
    // The timers of a tab that was frozen have not run.
    if (Date.now() - hiddenAt >= hiddenMs) close()
    if (wanted) return
    wanted = new AbortController()
    news.emit(MISSED)
    void followStreams(wanted.signal)
  }

  onVisibilityChange()
  document.addEventListener('visibilitychange', onVisibilityChange)
  return () => {
    document.removeEventListener('visibilitychange', onVisibilityChange)
    close()
  }
}

/** Follows one stream after another. News between two streams is missed. */
async function followStreams(unwanted: AbortSignal): Promise<void> {
  while (!unwanted.aborted) {
    await wait(await followStream(unwanted))
    if (!unwanted.aborted) news.emit(MISSED)
  }
}

/** Resolves when the stream ends, to the milliseconds until the next one may begin. */
async function followStream(unwanted: AbortSignal): Promise<number> {
  const { promise: ended, resolve: end } = Promise.withResolvers<number>()
  const source = new EventSource(LIVE_PATH)
  let silence = setTimeout(end, SILENT_MS, 0)
  const onSign = () => {
    clearTimeout(silence)
    silence = setTimeout(end, SILENT_MS, 0)
  }
  for (const name of ['open', 'message', LIVE_FORMER, LIVE_BEAT]) {
    source.addEventListener(name, onSign)
  }
  let isAgain = false
  source.onopen = () => {
    if (isAgain) news.emit(MISSED)
    isAgain = true
  }
  const emitAs = (kind: NamedNews['kind']) => (event: MessageEvent<string>) =>
    news.emit({ ...JSON.parse(event.data), kind })
  source.onmessage = emitAs('new')
  source.addEventListener(LIVE_FORMER, emitAs('former'))
  // Unless it is closed, the browser reconnects by itself, after the `retry` that the server sent.
  source.onerror = () => source.readyState === EventSource.CLOSED && end(REFUSED_MS)
  unwanted.addEventListener('abort', () => end(0))
  const pauseMs = await ended
  clearTimeout(silence)
  source.close()
  return pauseMs
}
