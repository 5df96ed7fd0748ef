import { randomUUID } from 'node:crypto'
import type { DataSet } from './data-set.ts'
import type { Call, Requests } from './load.ts'

export type Scenario = {
  name: string
  /** The least share of the physical limit that the product should reach. */
  goal: number
  /** The bare statements to compare with; a read is compared with a bare server. */
  bareWrite?: { kind: 'post' | 'like'; connections: number }
  inFlight?: number
  requests: Requests
}

/** The connections of the product's pool. */
const POOL = 20
const HOT_POST = 1
const VISITOR_GOAL = 0.75
const SIGNED_IN_GOAL = 0.4

export const WALL = requestOf('GET', '/posts?limit=10')
export const WALL_PAGE: Call = { method: 'GET', path: '/', headers: { 'accept-encoding': 'br' } }

export function scenarios({ posts }: DataSet, tokens: string[]): Scenario[] {
  const reads = Object.entries({
    wall: WALL,
    post: requestOf('GET', `/posts/${posts}`),
    replies: requestOf('GET', `/posts/${HOT_POST}/replies?limit=10`),
  })
  return [
    ...reads.map(([name, read]) => ({
      name: `${name}, visitor`,
      goal: VISITOR_GOAL,
      requests: [[read]],
    })),
    { name: 'wall page, visitor', goal: VISITOR_GOAL, requests: [[WALL_PAGE]] },
    ...reads.map(([name, read]) => ({
      name: `${name}, signed in`,
      goal: SIGNED_IN_GOAL,
      // Each connection is another user.
      requests: tokens.map((token) => [signedIn(read, token)]),
    })),
    ...publishing(tokens),
    hotLikes(tokens),
  ]
}

/** Each write is a transaction of its own, and waits for those of the same author or post. */
function publishing(tokens: string[]): Scenario[] {
  const bareWrite = { kind: 'post', connections: POOL } as const
  const byAll = () => newPost(tokens)
  const byOne = () => newPost(tokens.slice(0, 1))
  const inTurn = { bareWrite: { ...bareWrite, connections: 1 }, inFlight: 1 }
  return [
    { name: 'publish', goal: 0.8, bareWrite, requests: byAll },
    { name: 'publish, one author', goal: 0.4, bareWrite, inFlight: 32, requests: byOne },
    { name: 'publish, one at a time', goal: 0.4, ...inTurn, requests: byAll },
  ]
}

/** All users like the post, one after another, then all take the like back, and so on. */
function hotLikes(tokens: string[]): Scenario {
  const calls = (['POST', 'DELETE'] as const).flatMap((method) =>
    tokens.map((token) => signedIn(requestOf(method, `/posts/${HOT_POST}/likes`), token)),
  )
  let next = 0
  return {
    name: 'like a hot post',
    // Three hundred a second, of the 2,500 that the bare loop makes.
    goal: 0.12,
    bareWrite: { kind: 'like', connections: POOL },
    requests: () => calls[next++ % calls.length] ?? WALL,
  }
}

export function newPost(tokens: string[]): Call {
  const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() }
  const text = 'Говорят, если долго смотреть на стену, она отвечает.'
  const call = { ...requestOf('POST', '/posts', headers), body: JSON.stringify({ text }) }
  return signedIn(call, oneOf(tokens))
}

/** Returns a like of one of the newest posts, some of which the wall's first page shows. */
export function newLike({ posts }: DataSet, tokens: string[]): Call {
  const post = posts - Math.floor(Math.random() * 1000)
  return signedIn(requestOf('POST', `/posts/${post}/likes`), oneOf(tokens))
}

export function requestOf(method: Call['method'], path: string, headers = {}): Call {
  return { method, path: `/api/v1${path}`, headers }
}

export function signedIn(call: Call, token: string): Call {
  return { ...call, headers: { ...call.headers, authorization: `Bearer ${token}` } }
}

export function oneOf<T>(items: T[]): T {
  return items[Math.floor(Math.random() * items.length)] as T
}
