import { randomInt } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { LIVE_BEAT, LIVE_FORMER, LIVE_PATH, LIVE_RECENT_MS } from '../../../contract/constants.ts'
import type { Change, NewestPost } from '../cache/change-feed.ts'
import { AppError } from '../errors/app-error.ts'
import { VISITOR_CALLS } from '../http/call-limits.ts'
import type { Limits } from '../limits/limits.ts'

/** The most answered users and replies that an event names; above this it has `many` instead. */
const EVENT_IDS_MAX = 50

const SLICE = 250
const EVENT_MS = 1000
const HEARTBEAT_MS = 20_000
const RETRY_MS = { min: 1000, max: 10_000 }

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  // Stops nginx from buffering the stream.
  'x-accel-buffering': 'no',
}

/** Sends server-sent events about new posts and replies, the same to all clients. */
export class Live {
  readonly streams = new Set<ServerResponse>()
  readonly #heartbeat = setInterval(() => this.#beat(), HEARTBEAT_MS).unref()
  #newest: NewestPost | undefined
  #to = new Set<string>()
  #recent: { to: Set<string>; at: number }[] = []
  #nextEvent: NodeJS.Timeout | undefined
  #sentAt = Number.NEGATIVE_INFINITY
  #isEnding = false

  serve(http: FastifyInstance, limits: Limits): void {
    http.get(LIVE_PATH, {
      config: { lane: 'stream' },
      exposeHeadRoute: false,
      onRequest: ({ ip }) => limits.charge([{ limit: VISITOR_CALLS, ip }]),
      handler: async (_request, reply) => {
        if (this.#isEnding) throw new AppError('UNAVAILABLE', { retryAfter: 60 })
        if (!reply.raw.destroyed) this.#open(reply)
      },
    })
  }

  /** Plans an event about an added post or reply; forgets the newest post if it was removed. */
  announce(change: Change): void {
    if (change.kind !== 'added') {
      const { kind, postId = this.#newest?.id } = change
      // A later event must not offer a post that is gone.
      if (kind === 'removed' && postId === this.#newest?.id) this.#newest = undefined
      return
    }
    const added = change.newest
    const isNewer = added !== undefined && BigInt(added.id) > BigInt(this.#newest?.id ?? 0)
    if (isNewer) this.#newest = added
    for (const id of change.answered) this.#to.add(id)
    if (!isNewer && change.answered.length === 0) return
    const waitMs = Math.max(0, this.#sentAt + EVENT_MS - performance.now())
    this.#nextEvent ??= setTimeout(() => this.#send(), waitMs).unref()
  }

  close(): void {
    this.#isEnding = true
    clearInterval(this.#heartbeat)
    clearTimeout(this.#nextEvent)
    for (const stream of this.streams) stream.end()
  }

  #open(reply: FastifyReply): void {
    const stream = reply.raw
    reply.hijack()
    stream.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), ...HEADERS })
    const retry = `retry: ${randomInt(RETRY_MS.min, RETRY_MS.max)}\n\n`
    stream.write(retry + this.#formerEvent())
    this.streams.add(stream)
    stream.once('close', () => this.streams.delete(stream))
  }

  #send(): void {
    this.#nextEvent = undefined
    this.#sentAt = performance.now()
    void this.#write(eventOf(this.#newest, this.#to))
    this.#recent = [...this.#recentEvents(), { to: this.#to, at: this.#sentAt }]
    this.#to = new Set()
  }

  #recentEvents() {
    return this.#recent.filter(({ at }) => at > performance.now() - LIVE_RECENT_MS)
  }

  #formerEvent(): string {
    const answered = new Set(this.#recentEvents().flatMap((event) => [...event.to]))
    const isNothing = this.#newest === undefined && answered.size === 0
    return isNothing ? '' : `event: ${LIVE_FORMER}\n${eventOf(this.#newest, answered)}`
  }

  #beat(): void {
    // The client has not read what was written 20 s ago, so it has stopped reading.
    for (const stream of this.streams) if (stream.writableLength > 0) stream.destroy()
    void this.#write(`event: ${LIVE_BEAT}\ndata: 1\n\n`)
  }

  /** Writes the same bytes to all streams. A stream opened meanwhile has the event already. */
  async #write(text: string): Promise<void> {
    const bytes = Buffer.from(text)
    let written = 0
    for (const stream of [...this.streams]) {
      if (++written % SLICE === 0) await nextTurn()
      if (!stream.writableEnded) stream.write(bytes)
    }
  }
}

function eventOf(newest: NewestPost | undefined, to: Set<string>): string {
  const answered = to.size > 0 && { to: to.size > EVENT_IDS_MAX ? 'many' : [...to] }
  const data = JSON.stringify({ newest: newest?.id, by: newest?.by, ...answered })
  return `${newest ? `id: ${newest.id}\n` : ''}data: ${data}\n\n`
}
