import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { buffer } from 'node:stream/consumers'
import autocannon, { type Client, type Request } from 'autocannon'

export type Load = { rps: number; p50: number; p99: number; requests: number; failed: number }

type Options = {
  url: string
  seconds: number
  request: Request | (() => Request)
  /** How many requests are in flight. */
  inFlight?: number | undefined
}

const IN_FLIGHT = 50

/**
 * Keeps connections busy for some seconds; latencies in milliseconds. A `request` that is always the same costs this
 * process much less than one made anew each time: only what is loaded alike can be compared.
 */
export async function applyLoad({
  url,
  seconds,
  request,
  inFlight = IN_FLIGHT,
}: Options): Promise<Load> {
  // autocannon's own latencies are whole milliseconds, which says too little of requests that come one by one.
  const times: number[] = []
  const setupClient = (client: Client) => {
    doNotReadBodies(client)
    if (inFlight === 1) client.on('response', (_status, _bytes, ms) => void times.push(ms))
  }
  const result = await autocannon({
    url,
    connections: inFlight,
    duration: seconds,
    requests: [
      typeof request === 'function'
        ? { setupRequest: (given) => ({ ...given, ...request() }) }
        : request,
    ],
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

/**
 * Keeps autocannon from turning each body into a string that nobody asks for, which took half of its time where bodies are compressed:
 * the loader was then the limit, and not the server.
 */
function doNotReadBodies(client: Client): void {
  const { pipelinedRequests } = client as unknown as { pipelinedRequests: object }
  Object.assign(pipelinedRequests, { addBody() {} })
}

/** Sends one request after another, as a lone reader would; returns their times in milliseconds. */
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

/**
 * Returns the middle one of some results by a figure of each, of an even number the one with the lower figure, so that a command never
 * reports the better of two rounds. Throws where there is none.
 */
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

/** Reads a URL. Returns the response's headers and its bytes as they were sent, compressed or not; rejects unless it is 200. */
export async function read(url: string, headers: Record<string, string>, agent?: Agent) {
  const [response] = await once(get(url, { headers, agent }), 'response')
  const body = await buffer(response)
  if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode}`)
  return { headers: response.headers, body }
}
