import { randomUUID } from 'node:crypto'
import type { Request } from 'autocannon'
import type { DataSet } from './data-set.ts'
import type { Requests } from './load.ts'
import type { Call } from './queries.ts'

export type Scenario = {
  name: string
  /** The least share of the physical limit that the product should reach. */
  goal: number
  /** Absent for a read, which is compared with a bare server of the same bytes. */
  bareWrite?: BareWrite
  /** By default as many as a read has. */
  inFlight?: number
  call: Call
  request: Requests
}

/** A loop of bare statements on several connections. */
export type BareWrite = { kind: 'post' | 'like'; connections: number }

/** The connections of the product's pool. */
const POOL = 20
const TEXT = 'Говорят, если долго смотреть на стену, она отвечает.'
const HOT_POST = 1

export function scenarios({ posts }: DataSet, tokens: string[]): Scenario[] {
  const post = posts - (posts % 4) - 1
  const reads = [
    ['wall', '/posts?limit=10'],
    ['post', `/posts/${post}`],
    ['replies', `/posts/${post}/replies?limit=10`],
  ] as const
  return [
    ...reads.map(([name, path]) => read(`${name}, visitor`, 0.75, { method: 'GET', path })),
    wallPage(),
    ...reads.map(([name, path]) =>
      readByMany(`${name}, signed in`, 0.4, { method: 'GET', path }, tokens),
    ),
    ...publishing(tokens),
    hotLikes(tokens),
  ]
}

function read(name: string, goal: number, call: Call): Scenario {
  return { name, goal, call, request: toRequest(call) }
}

/** Each connection is another user. */
function readByMany(name: string, goal: number, call: Call, tokens: string[]): Scenario {
  const calls = tokens.map((token) => ({ ...call, token }))
  return { name, goal, call: calls[0] ?? call, request: calls.map(toRequest) }
}

/** As a browser asks for the wall: HTML, compressed, made from the wall's JSON. */
function wallPage(): Scenario {
  const call: Call = { method: 'GET', path: '/posts?limit=10' }
  const request = { method: 'GET', path: '/', headers: { 'accept-encoding': 'br' } } as const
  return { name: 'wall page, visitor', goal: 0.75, call, request }
}

/**
 * Publishing with a key for each post: by many authors at once, by one author at once, and one post
 * after another. Each is compared with a bare loop of the statement that a publication needs on
 * disk, the last one on one connection.
 */
function publishing(tokens: string[]): Scenario[] {
  const many = { kind: 'post', connections: POOL } as const
  return [
    publishingBy(tokens, { name: 'publish', goal: 1.25, bareWrite: many }),
    publishingBy(tokens.slice(0, 1), {
      name: 'publish, one author',
      goal: 1.25 / 2,
      bareWrite: many,
      inFlight: 32,
    }),
    publishingBy(tokens, {
      name: 'publish, one at a time',
      goal: 0.45,
      bareWrite: { ...many, connections: 1 },
      inFlight: 1,
    }),
  ]
}

function publishingBy(tokens: string[], scenario: WriteScenario): Scenario {
  const calls = tokens.map(
    (token): Call => ({ method: 'POST', path: '/posts', token, body: { text: TEXT } }),
  )
  return inTurn(scenario, calls, () => ({ 'idempotency-key': randomUUID() }))
}

/** All users like the post, one after another, then all take the like back, and so on. */
function hotLikes(tokens: string[]): Scenario {
  const path = `/posts/${HOT_POST}/likes`
  const calls = (['POST', 'DELETE'] as const).flatMap((method) =>
    tokens.map((token): Call => ({ method, path, token })),
  )
  const bareWrite = { kind: 'like', connections: POOL } as const
  return inTurn({ name: 'like a hot post', goal: 0.5, bareWrite }, calls)
}

type WriteScenario = Pick<Scenario, 'name' | 'goal' | 'bareWrite' | 'inFlight'>

/** Sends the calls one after another, and again from the first, each with new headers. */
function inTurn(
  scenario: WriteScenario,
  calls: Call[],
  newHeaders: () => Record<string, string> = () => ({}),
): Scenario {
  const [call] = calls
  if (!call) throw new Error('no user is signed in')
  const requests = calls.map(toRequest)
  let next = 0
  function request(): Request {
    const { headers, ...rest } = requests[next++ % requests.length] ?? {}
    return { ...rest, headers: { ...headers, ...newHeaders() } }
  }
  return { ...scenario, call, request }
}

function toRequest({ method, path, token, body }: Call): Request {
  return {
    method,
    path: `/api/v1${path}`,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  }
}
