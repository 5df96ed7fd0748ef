import { randomUUID } from 'node:crypto'
import type { Request } from 'autocannon'
import type { DataSet } from './data-set.ts'
import type { Requests } from './load.ts'

export type Scenario = {
  name: string
  /** The least share of the physical limit that the product should reach. */
  goal: number
  /** Absent for a read, which is compared with a bare server of the same bytes. */
  bareWrite?: BareWrite
  /** By default as many as a read has. */
  inFlight?: number
  request: Requests
}

/** A loop of bare statements on several connections. */
export type BareWrite = { kind: 'post' | 'like'; connections: number }

/** The connections of the product's pool. */
const POOL = 20
const TEXT = 'Говорят, если долго смотреть на стену, она отвечает.'
const HOT_POST = 1
const VISITOR_GOAL = 0.75
const SIGNED_IN_GOAL = 0.4

export function scenarios({ posts }: DataSet, tokens: string[]): Scenario[] {
  const post = posts - (posts % 4) - 1
  const reads = Object.entries({
    wall: '/posts?limit=10',
    post: `/posts/${post}`,
    replies: `/posts/${post}/replies?limit=10`,
  })
  const page: Request = { method: 'GET', path: '/', headers: { 'accept-encoding': 'br' } }
  return [
    ...reads.map(([name, path]) => ({
      name: `${name}, visitor`,
      goal: VISITOR_GOAL,
      request: requestOf('GET', path),
    })),
    { name: 'wall page, visitor', goal: VISITOR_GOAL, request: page },
    ...reads.map(([name, path]) => ({
      name: `${name}, signed in`,
      goal: SIGNED_IN_GOAL,
      // Each connection is another user.
      request: tokens.map((token) => requestOf('GET', path, token)),
    })),
    ...publishing(tokens),
    hotLikes(tokens),
  ]
}

/**
 * Publishing with a key for each post: by many authors at once, by one author at once, and one post
 * after another. Each is compared with a bare loop of the statement that a publication needs on
 * disk, the last one on one connection.
 */
function publishing(tokens: string[]): Scenario[] {
  const bareWrite = { kind: 'post', connections: POOL } as const
  const by = (authors: string[]) =>
    inTurn(
      authors.map((token) => ({
        ...requestOf('POST', '/posts', token, { 'content-type': 'application/json' }),
        body: JSON.stringify({ text: TEXT }),
      })),
      () => ({ 'idempotency-key': randomUUID() }),
    )
  return [
    { name: 'publish', goal: 1.25, bareWrite, request: by(tokens) },
    {
      name: 'publish, one author',
      goal: 1.25 / 2,
      bareWrite,
      inFlight: 32,
      request: by(tokens.slice(0, 1)),
    },
    {
      name: 'publish, one at a time',
      goal: 0.45,
      bareWrite: { ...bareWrite, connections: 1 },
      inFlight: 1,
      request: by(tokens),
    },
  ]
}

/** All users like the post, one after another, then all take the like back, and so on. */
function hotLikes(tokens: string[]): Scenario {
  const requests = (['POST', 'DELETE'] as const).flatMap((method) =>
    tokens.map((token) => requestOf(method, `/posts/${HOT_POST}/likes`, token)),
  )
  const bareWrite = { kind: 'like', connections: POOL } as const
  return { name: 'like a hot post', goal: 0.5, bareWrite, request: inTurn(requests) }
}

/** Sends the requests one after another, and again from the first, each with new headers. */
function inTurn(
  requests: Request[],
  newHeaders: () => Record<string, string> = () => ({}),
): () => Request {
  let next = 0
  return () => {
    const request = requests[next++ % requests.length]
    return { ...request, headers: { ...request?.headers, ...newHeaders() } }
  }
}

function requestOf(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  token?: string,
  headers: Record<string, string> = {},
): Request {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return { method, path: `/api/v1${path}`, headers: { ...authorization, ...headers } }
}
