import type { FastifyBaseLogger } from 'fastify'
import { API_PREFIX } from '../../../contract/constants.ts'
import { isDatabaseUnavailable } from '../db/database-errors.ts'
import type { Outage } from '../db/outage.ts'
import { withDeadline } from '../deadline.ts'
import { AppError } from '../errors/app-error.ts'
import type { CachedEndpoint, Http, Viewer } from '../http/route.ts'
import { MemoryCache, type Stale } from './cache.ts'
import { type Answer, CachedResponse } from './cached-response.ts'
import type { Change, ChangeFeed, FeedEvents, PublishChange } from './change-feed.ts'
import { RecentWriters } from './fast-path.ts'

/** The part of answers about posts that differs by viewer: whether the viewer likes them. */
export type ViewerFlag = {
  postIdsOf: (answer: unknown) => string[]
  setFor: (answer: unknown, postIds: ReadonlySet<string>) => unknown
  /** Resolves to liked posts, at least all among `postIds`, or to null for a closed session. */
  trueFor: (viewer: Viewer, postIds: readonly string[]) => Promise<ReadonlySet<string> | null>
}

type Options = {
  flag: ViewerFlag
  headers: Record<string, string>
  outage: Outage
  log: FastifyBaseLogger
  openFeed: (events: FeedEvents) => Pick<ChangeFeed, 'publish' | 'close'>
  onChange: (change: Change) => void
}

type Read = () => Promise<unknown>
type Make = () => Promise<CachedResponse>

const SILENCE_MS = 700
const JSON_TYPE = 'application/json; charset=utf-8'
const NONE: ReadonlySet<string> = new Set()

export class ResponseCache {
  readonly memory = new MemoryCache()
  readonly writers = new RecentWriters()
  readonly addWriter = this.writers.add
  readonly #options: Options
  readonly #feed: ReturnType<Options['openFeed']>

  constructor(options: Options) {
    this.#options = options
    this.#feed = options.openFeed({
      onChange: (change) => this.#invalidate(change),
      onSubscribed: (isSubscribed) => this.memory.setSubscribed(isSubscribed),
    })
  }

  /** Sends a read: to a user with their flags, to a visitor perhaps a stale response. */
  async serveRead(
    { endpoint, http }: { endpoint: CachedEndpoint; http: Http },
    read: Read,
  ): Promise<Buffer> {
    const { url, viewer } = http.request
    if (viewer) {
      const { headers, body } = await this.#readForUser(viewer, { endpoint, http }, read)
      http.reply.headers(headers)
      return body
    }
    return this.serveShared({ ...http, url }, async () => this.#respond(endpoint, await read()))
  }

  /** Sends a visitor the cached response of a URL, or the result of `make`. */
  async serveShared({ url, ...http }: Http & { url: string }, make: Make): Promise<Buffer> {
    const { response, age } = await this.#readForVisitor(url, make)
    return response.send(http, age)
  }

  /** Invalidates the caches of all nodes. Only a page may then lack a new post, for 100 ms. */
  readonly publishChange: PublishChange = async (change) => {
    this.#invalidate(change)
    try {
      await this.#feed.publish(change)
    } catch (err) {
      // Without the notification, other nodes serve outdated responses for a second.
      const { outage, log } = this.#options
      const isLost = outage.reportFailure(err as Error)
      if (!isLost) log.warn({ err }, 'a change was not published to the other nodes')
    }
  }

  /** Answers with a cached response and the user's flags. Throws UNAUTHORIZED for no session. */
  async answerUser(viewer: Viewer, { content, identity }: CachedResponse): Promise<Answer> {
    const { answer, postIds = [] } = content
    const { flag } = this.#options
    const isTrue = await flag.trueFor(viewer, postIds)
    if (!isTrue) throw new AppError('UNAUTHORIZED')
    const isSame = !postIds.some((postId) => isTrue.has(postId))
    return this.#ownAnswer(isSame ? identity.body : toJson(flag.setFor(answer, isTrue)))
  }

  close(): Promise<void> {
    return this.#feed.close()
  }

  #invalidate(change: Change): void {
    this.memory.invalidate(change)
    this.#options.onChange(change)
  }

  async #readForUser(
    viewer: Viewer,
    { endpoint, http }: { endpoint: CachedEndpoint; http: Http },
    read: Read,
  ): Promise<Answer> {
    const { url, headers } = http.request
    if (this.writers.includes(viewer, headers)) return this.#ownAnswer(toJson(await read()))
    let own = null as Promise<unknown> | null
    const response = await this.memory.read(url, async () => {
      own = read()
      return this.#respond(endpoint, this.#options.flag.setFor(await own, NONE))
    })
    // The viewer's own read already has the flags; its response is cached without them.
    return own ? this.#ownAnswer(toJson(await own)) : this.answerUser(viewer, response)
  }

  #ownAnswer(body: Buffer): Answer {
    const own = { 'cache-control': 'no-store', 'content-type': JSON_TYPE }
    const headers = { ...this.#options.headers, ...own, 'content-length': body.length }
    return { status: 200, headers, body }
  }

  /** Resolves to the current response, or the stale one while the database fails or is silent. */
  async #readForVisitor(url: string, make: Make): Promise<Omit<Stale, 'age'> & { age?: number }> {
    const { outage } = this.#options
    const serveStale = (): Stale | undefined => {
      const stale = this.memory.getStale(url)
      if (stale) outage.countStale()
      return stale
    }
    const current = this.memory.read(url, make).then((response) => ({ response }))
    try {
      return (await withDeadline(current, SILENCE_MS, serveStale)) ?? (await current)
    } catch (error) {
      const stale = isDatabaseUnavailable(error as Error) ? serveStale() : undefined
      if (!stale) throw error
      outage.reportFailure(error as Error)
      return stale
    }
  }

  #respond({ path }: CachedEndpoint, answer: unknown): CachedResponse {
    const { headers, flag } = this.#options
    return new CachedResponse({
      route: API_PREFIX + path,
      body: toJson(answer),
      answer,
      type: JSON_TYPE,
      headers,
      vary: 'Authorization',
      postIds: flag.postIdsOf(answer),
    })
  }
}

function toJson(answer: unknown): Buffer {
  return Buffer.from(JSON.stringify(answer))
}
