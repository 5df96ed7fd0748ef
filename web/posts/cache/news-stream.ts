import { LIVE_BEAT, LIVE_FORMER, LIVE_PATH, LIVE_RECENT_MS } from '../../../contract/constants.ts'
import { createEmitter } from '../../platform/atom.ts'

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

/** The silence after which a stream is replaced. The server sends a heartbeat every 20 s. */
const SILENT_MS = 45_000
const REFUSED_MS = 60_000

const news = createEmitter<News>(connect)
let recent: { event: NamedNews; at: number }[] = []

/** Calls `listener` with all news. If the stream is older, begins with its news of the last 10 s. */
export function onNews(listener: (event: News) => void): () => void {
  for (const { event } of recentNews()) listener({ ...event, kind: 'former' })
  return news.subscribe(listener)
}

/** Calls `listener` if the user may have new replies. Returns the function that unsubscribes it. */
export function onAnswered(userId: string, listener: () => void): () => void {
  return onNews((event) => {
    const isMissed = event.kind === 'missed' || event.to === 'many'
    if (isMissed || event.to?.includes(userId)) listener()
  })
}

/**
 * Opens a stream while the tab is visible. On plain http, browsers open only six connections to a
 * host, for all tabs.
 */
function connect(): () => void {
  let source: EventSource | undefined
  let next: ReturnType<typeof setTimeout> | undefined

  /** Opens a new stream, and emits `missed`, because it does not contain earlier news. */
  function open(): void {
    close()
    emitMissed()
    const stream = new EventSource(LIVE_PATH)
    source = stream
    openIn(SILENT_MS)
    for (const name of ['open', 'message', LIVE_FORMER, LIVE_BEAT]) {
      stream.addEventListener(name, () => openIn(SILENT_MS))
    }
    stream.addEventListener('message', emitAs('new'))
    stream.addEventListener(LIVE_FORMER, emitAs('former'))
    stream.addEventListener('error', () => {
      // Unless it is closed, the browser reconnects by itself, after the server's `retry`.
      if (stream.readyState === EventSource.CLOSED) openIn(REFUSED_MS)
      else stream.addEventListener('open', emitMissed, { once: true })
    })
  }

  function openIn(ms: number): void {
    clearTimeout(next)
    next = setTimeout(open, ms)
  }

  function close(): void {
    clearTimeout(next)
    source?.close()
  }

  function onVisibilityChange(): void {
    if (document.visibilityState === 'hidden') close()
    else open()
  }

  onVisibilityChange()
  document.addEventListener('visibilitychange', onVisibilityChange)
  return () => {
    document.removeEventListener('visibilitychange', onVisibilityChange)
    close()
  }
}

const emitMissed = () => news.emit({ kind: 'missed' })

const emitAs = (kind: NamedNews['kind']) => (message: MessageEvent<string>) => {
  const event: NamedNews = { ...JSON.parse(message.data), kind }
  recent = [...recentNews(), { event, at: performance.now() }]
  news.emit(event)
}

function recentNews() {
  return recent.filter(({ at }) => at > performance.now() - LIVE_RECENT_MS)
}
