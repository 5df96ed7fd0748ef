import { once } from 'node:events'
import { type Agent, type IncomingMessage, request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import autocannon, { type Client } from 'autocannon'

export type Call = {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  headers: Record<string, string>
  body?: string
}
export type Answer = Awaited<ReturnType<typeof send>>

/** The connections take the lists in turn, and each repeats its own. */
export type Requests = Call[][] | (() => Call)

export type Load = Awaited<ReturnType<typeof applyLoad>>
type Options = { url: string; seconds: number; requests: Requests; inFlight?: number | undefined }

const IN_FLIGHT = 50

/**
 * Returns latencies in milliseconds. Compare only loads of one kind: a function as `requests` costs
 * this process much more than lists.
 */
export async function applyLoad({ url, seconds, requests, inFlight = IN_FLIGHT }: Options) {
  const lists = typeof requests === 'function' ? [] : requests
  let clients = 0
  const result = await autocannon({
    url,
    connections: inFlight,
    duration: seconds,
    requests:
      typeof requests === 'function'
        ? [{ setupRequest: (given) => ({ ...given, ...requests() }) }]
        : requests.slice(0, 1).flat(),
    setupClient(client) {
      doNotReadBodies(client)
      const own = lists[clients++ % lists.length]
      if (own) client.setRequests(own)
    },
  })
  const { total } = result.requests
  return {
    rps: total / result.duration,
    servedPerSecond: result['2xx'] / result.duration,
    /** Of the served ones. */
    p99: result.latency.p99,
    requests: total,
    failed: result.non2xx + result.errors,
    statuses: Object.keys(result.statusCodeStats ?? {}),
    lost: result.errors,
  }
}

/** autocannon would spend half of its time on strings of the bodies. */
function doNotReadBodies(client: Client): void {
  const { pipelinedRequests } = client as unknown as { pipelinedRequests: object }
  Object.assign(pipelinedRequests, { addBody() {} })
}

/** Returns the bytes as they were sent, compressed or not. Connects anew if there is no agent. */
export async function send(
  origin: string,
  { path, body, ...options }: Call,
  agent: Agent | false = false,
) {
  const sending = request(origin + path, { ...options, agent }).end(body)
  const [response] = (await once(sending, 'response')) as [IncomingMessage]
  const { statusCode: status = 0, headers } = response
  return { status, headers, body: await buffer(response) }
}

export function middleOf<T>(results: T[], figureOf: (result: T) => number): T {
  const sorted = results.toSorted((a, b) => figureOf(a) - figureOf(b))
  const middle = sorted[Math.floor((sorted.length - 1) / 2)]
  if (middle === undefined) throw new Error('no round was run')
  return middle
}

export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN
}
