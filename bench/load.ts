import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { buffer } from 'node:stream/consumers'
import autocannon, { type Client, type Request } from 'autocannon'

export type Load = { rps: number; p50: number; p99: number; requests: number; failed: number }

/** Of several requests, each connection repeats one. */
export type Requests = Request | Request[] | (() => Request)

type Options = {
  url: string
  seconds: number
  request: Requests
  inFlight?: number | undefined
}

const IN_FLIGHT = 50

/**
 * Returns latencies in milliseconds. Compare only loads of one kind: a function as `request` costs
 * this process much more than a constant.
 */
export async function applyLoad({
  url,
  seconds,
  request,
  inFlight = IN_FLIGHT,
}: Options): Promise<Load> {
  // autocannon's own latencies are whole milliseconds, which is too coarse for lone requests.
  const times: number[] = []
  const several = Array.isArray(request) ? request : []
  let clients = 0
  const setupClient = (client: Client) => {
    doNotReadBodies(client)
    const own = several[clients++ % several.length]
    if (own) client.setRequests([own])
    if (inFlight === 1) client.on('response', (_status, _bytes, ms) => void times.push(ms))
  }
  const result = await autocannon({
    url,
    connections: inFlight,
    duration: seconds,
    requests:
      typeof request === 'function'
        ? [{ setupRequest: (given) => ({ ...given, ...request() }) }]
        : [request].flat(),
    setupClient,
  })
  return {
    rps: result.requests.total / result.duration,
    p50: inFlight === 1 ? median(times) : result.latency.p50,
    p99: result.latency.p99,
    requests: result.requests.total,
    failed: result.non2xx + result.errors + result.timeouts,
  }
}

/** autocannon would spend half of its time turning each body into an unused string. */
function doNotReadBodies(client: Client): void {
  const { pipelinedRequests } = client as unknown as { pipelinedRequests: object }
  Object.assign(pipelinedRequests, { addBody() {} })
}

/** Sends one request after another, as a lone reader would. */
export async function timesOf(urls: string[], headers: Record<string, string>): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const times: number[] = []
  for (const url of urls) {
    const began = performance.now()
    await read(url, headers, agent)
    times.push(performance.now() - began)
  }
  agent.destroy()
  return times
}

export function median(times: number[]): number {
  return quantile(
    times.sort((a, b) => a - b),
    0.5,
  )
}

/** Returns the median result by a figure; of an even number, the lower of the middle two. */
export function middleOf<T>(results: T[], figureOf: (result: T) => number): T {
  const sorted = results.toSorted((a, b) => figureOf(a) - figureOf(b))
  const middle = sorted[Math.floor((sorted.length - 1) / 2)]
  if (middle === undefined) throw new Error('no round was run')
  return middle
}

/** The value below which a share of sorted values lies. */
export function quantile(sorted: number[], share: number): number {
  return sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN
}

/** Returns the bytes as they were sent, compressed or not. */
export async function read(url: string, headers: Record<string, string>, agent?: Agent) {
  const [response] = await once(get(url, { headers, agent }), 'response')
  const body = await buffer(response)
  if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode}`)
  return { headers: response.headers, body }
}
