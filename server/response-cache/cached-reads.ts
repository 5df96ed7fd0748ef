import { createHash } from 'node:crypto'
import type { Post, PostPage } from '../../contract/posts.ts'
import { isDatabaseUnavailable } from '../db/unavailable.ts'
import type { Viewer } from '../http/authenticate.ts'
import type { Http } from '../http/route.ts'
import { isKnown, type KeptAnswer, type KeptAnswers, type Stamp } from './cache.ts'

/** Which of some posts a user likes. */
type LikedBy = (question: { userId: string; postIds: string[] }) => Promise<Set<string>>
/** A read as one viewer, or a visitor, sees it. */
type Read = (viewer: Viewer | null) => Promise<Post | PostPage>
/** `age` (seconds): of an answer that is given only because the database is away. */
type VisitorsAnswer = { answer: KeptAnswer; age?: number }
type Flight = { stamp: Stamp; answer: Promise<KeptAnswer> }

/**
 * Answers a read with what it gave a moment ago and the viewer's own likes put in; else reads, once for all who ask for
 * one URL together, and keeps it. Returns the JSON to send. Rejects as the read does; but a visitor is answered with the
 * last read, marked by its `Age`, while the database is away.
 */
export type ShareRead = (http: Http, viewer: Viewer | null, read: Read) => Promise<Buffer>

/** Where the API gives a read: its URL, by which the answer is kept, and its route, as the log names it. */
type Place = { url: string; route: string }
/** What a visitor would be answered with at a place of the API: the very read that serves it there. Rejects as the read does. */
export type ReadAsVisitor = <T extends Post | PostPage>(
  place: Place,
  read: () => Promise<T>,
) => Promise<T>

const JSON_TYPE = 'application/json; charset=utf-8'
/** A CDN may serve a visitor's read for a second; a browser asks each time and is told 304 when nothing changed. */
const CACHE_CONTROL = 'public, max-age=0, s-maxage=1'
const NOT_MODIFIED = 304
const IS_LIKED = /(?<="is_liked":)(?:true|false)/

export function createSharedReads(
  kept: KeptAnswers,
  likedBy: LikedBy,
): { shareRead: ShareRead; readAsVisitor: ReadAsVisitor } {
  const flights = new Map<string, Flight>()

  function underWay(url: string): Promise<KeptAnswer> | undefined {
    const flight = flights.get(url)
    return flight && kept.isCurrent(flight.stamp) ? flight.answer : undefined
  }

  /** Reads as `viewer`, so that the one who asks first needs no second look at the likes; others share the rest. */
  async function fly({ url, route }: Place, viewer: Viewer | null, read: Read) {
    const stamp = kept.stamp()
    const reading = read(viewer).then((page) => {
      const json = JSON.stringify(page)
      return { json, answer: toKept(page, json, route) }
    })
    const answer = reading.then((done) => done.answer)
    answer.catch(() => {})
    const flight = { stamp, answer }
    flights.set(url, flight)
    try {
      const done = await reading
      kept.keep(url, done.answer, stamp)
      return done
    } finally {
      if (flights.get(url) === flight) flights.delete(url)
    }
  }

  async function forVisitor(place: Place, read: Read): Promise<VisitorsAnswer> {
    const known = kept.forVisitor(place.url)
    if (known) return { answer: known }
    try {
      return { answer: (await underWay(place.url)) ?? (await fly(place, null, read)).answer }
    } catch (error) {
      const last =
        error instanceof Error && isDatabaseUnavailable(error) && kept.duringOutage(place.url)
      if (!last) throw error
      return last
    }
  }

  return {
    async shareRead(http, viewer, read) {
      const { url, routeOptions } = http.request
      const place = { url, route: routeOptions.url ?? '' }
      http.reply.type(JSON_TYPE)
      if (!viewer) return answerVisitor(http, await forVisitor(place, read))
      const known = kept.forUser(url) ?? (await underWay(url))
      if (!known) return Buffer.from((await fly(place, viewer, read)).json)
      return withLikes(known, await likedBy({ userId: viewer.userId, postIds: known.postIds }))
    },

    async readAsVisitor(place, read) {
      return JSON.parse((await forVisitor(place, read)).answer.body.toString())
    },
  }
}

function answerVisitor({ request, reply }: Http, { answer, age }: VisitorsAnswer): Buffer {
  const { etag, body } = answer
  reply.headers({ etag, 'cache-control': CACHE_CONTROL, vary: 'Authorization' })
  answer.headers ??= {
    ...(reply.getHeaders() as Record<string, string>),
    'content-length': body.length,
  }
  if (age !== undefined) reply.header('age', age)
  if (!isKnown(answer, request.headers['if-none-match'])) return body
  reply.code(NOT_MODIFIED).removeHeader('content-type')
  return Buffer.alloc(0)
}

function toKept(page: Post | PostPage, json: string, route: string): KeptAnswer {
  const pieces = json.split(IS_LIKED)
  const body = Buffer.from(pieces.join('false'))
  return {
    route,
    body,
    etag: `"${createHash('sha1').update(body).digest('base64url')}"`,
    pieces,
    postIds: shownPosts(page),
    headers: null,
  }
}

/** The posts of an answer in the order in which their JSON says `is_liked`. */
function shownPosts(page: Post | PostPage): string[] {
  const posts = 'posts' in page ? page.posts : [page]
  return posts.flatMap(({ id, actions }) =>
    actions.replied_post ? [id, actions.replied_post.id] : [id],
  )
}

function withLikes({ body, pieces, postIds }: KeptAnswer, liked: Set<string>): Buffer {
  if (liked.size === 0) return body
  const parts = postIds.map((id, place) => `${pieces[place]}${liked.has(id)}`)
  return Buffer.from(parts.join('') + (pieces.at(-1) ?? ''))
}
