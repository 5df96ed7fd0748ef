import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { API_PREFIX, LIVE_PATH } from '../../contract/constants.ts'
import { listen } from '../../server/testing/process/free-port.ts'

/**
 * `drop`: the server answers, and the connection ends before the answer. `lose`: the connection ends,
 * and the server gets nothing. `delay`: the answer is not there when the client stops waiting.
 * `late`: the server gets the call only after the client has stopped waiting and has sent it again.
 * `repeat`: the server gets the call twice, and the second answer arrives.
 */
export type Fault = 'drop' | 'lose' | 'delay' | 'late' | 'repeat'

export const FAULTS: readonly Fault[] = ['drop', 'lose', 'delay', 'late', 'repeat']

/** The name of a page that the browser navigates to, or reloads. */
export const PAGE = 'GET page'

/** One fault of one call: `call` is its name, with the number of earlier calls of that name. */
export type Disturbance = { call: string; fault: Fault }

type Answer = { status: number; headers: string[]; body: Buffer }

const agent = new Agent({ keepAlive: true })

export type LossyProxy = Awaited<ReturnType<typeof openLossyProxy>>

/**
 * Opens a forward proxy, which a browser context is given, so that the browser's own network stack
 * meets the fault. `nameOf` names the calls of the API. The caller closes it.
 */
export async function openLossyProxy(
  port: number,
  nameOf: (method: string, path: string) => string,
  disturbance?: Disturbance,
) {
  const calls: string[] = []
  const counts = new Map<string, number>()
  const held = new Set<ServerResponse>()
  const late: (() => Promise<unknown>)[] = []
  let open = 0
  let isHit = false

  async function forward(asked: IncomingMessage, body: Buffer): Promise<Answer> {
    const upstream = request({ ...targetOf(asked, port), agent })
    upstream.end(body)
    const [answer] = (await once(upstream, 'response')) as [IncomingMessage]
    return {
      status: answer.statusCode ?? 0,
      headers: answer.rawHeaders,
      body: await buffer(answer),
    }
  }

  /** The live stream, pages and their files pass through. */
  function pass(asked: IncomingMessage, response: ServerResponse): void {
    const upstream = request({ ...targetOf(asked, port), agent: false })
    response.on('close', () => upstream.destroy())
    upstream.on('error', () => response.destroy())
    upstream.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
      response.flushHeaders()
      answer.pipe(response)
    })
    asked.pipe(upstream)
  }

  function answerWith(response: ServerResponse, { status, headers, body }: Answer): void {
    // Each call gets a fresh connection: Chromium itself repeats a call whose kept connection ends.
    response.writeHead(status, [...withoutConnection(headers), 'connection', 'close'])
    response.end(body)
  }

  async function hold(response: ServerResponse): Promise<void> {
    held.add(response)
    await once(response, 'close')
    held.delete(response)
  }

  async function disturb(fault: Fault, asked: IncomingMessage, response: ServerResponse) {
    isHit = true
    const body = await buffer(asked)
    if (fault === 'lose') return asked.socket.destroy()
    if (fault === 'late') {
      late.push(() => forward(asked, body))
      return hold(response)
    }
    await forward(asked, body)
    if (fault === 'drop') return asked.socket.destroy()
    if (fault === 'delay') return hold(response)
    answerWith(response, await forward(asked, body))
  }

  async function handle(asked: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const { pathname } = new URL(asked.url ?? '')
    const isPage = asked.headers['sec-fetch-dest'] === 'document'
    const isCall = pathname.startsWith(API_PREFIX) && pathname !== LIVE_PATH
    if (!isPage && !isCall) return pass(asked, response)
    open++
    response.once('close', () => open--)
    const name = isPage ? PAGE : nameOf(asked.method ?? '', pathname.slice(API_PREFIX.length))
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    const call = `${name} ${count}`
    calls.push(call)
    if (call === disturbance?.call) return disturb(disturbance.fault, asked, response)
    if (isPage) return pass(asked, response)
    const answer = await forward(asked, await buffer(asked))
    if (disturbance?.call.startsWith(`${name} `)) await deliverLate()
    answerWith(response, answer)
  }

  async function deliverLate(): Promise<void> {
    for (const send of late.splice(0)) await send()
  }

  const server = createServer((asked, response) => {
    handle(asked, response).catch(() => response.destroy())
  })

  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    /** The calls in the order in which they came. */
    calls,
    isHit: () => isHit,
    isIdle: () => open === 0,
    /** Whether a call waits for the client to give it up, and no other call is unanswered. */
    isHolding: () => held.size > 0 && held.size === open,
    /** Ends the held calls: Chromium keeps the connection of a call that may outlive its page. */
    giveUp(): void {
      for (const response of held) response.destroy()
    },
    deliverLate,
    async close(): Promise<void> {
      server.closeAllConnections()
      const closed = once(server, 'close')
      server.close()
      await closed
    },
  }
}

function targetOf({ method, url = '', headers }: IncomingMessage, port: number) {
  const { pathname, search } = new URL(url)
  return { host: '127.0.0.1', port, method, path: pathname + search, headers }
}

function withoutConnection(headers: string[]): string[] {
  return headers.filter(
    (_, at) => !/^(?:connection|keep-alive)$/i.test(headers[at - (at % 2)] ?? ''),
  )
}
