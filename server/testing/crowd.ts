import { connect } from 'node:net'

export type CrowdResult = {
  /** The number of responses by status. */
  statuses: Map<number, number>
  /** Requests whose connection closed before the response was complete. */
  lost: number
  /** Milliseconds from each request with status 200 to its response. */
  times: number[]
}

type Options = {
  url: string
  connections: number
  /** Returns the bytes of the next request, which has no body. */
  request: () => string
}

const REFUSED_MS = 20
const LENGTH = /\r\ncontent-length: (\d+)/i

/**
 * Each client has a connection of its own, sends the next request as soon as the previous one is
 * answered, and reconnects at once. Refusals do not slow it down.
 */
export function openCrowd({ url, connections, request }: Options) {
  const result: CrowdResult = { statuses: new Map(), lost: 0, times: [] }
  const callers = Array.from({ length: connections }, () => startCaller(url, { request, result }))
  return {
    result,
    async stop(): Promise<CrowdResult> {
      await Promise.all(callers.map((stop) => stop()))
      return result
    },
  }
}

/** Returns the status, or 0 without a response within 5 s. */
export async function askOnce(
  url: string,
  request: string,
): Promise<{ status: number; ms: number }> {
  const result: CrowdResult = { statuses: new Map(), lost: 0, times: [] }
  const { promise, resolve } = Promise.withResolvers<number>()
  const began = performance.now()
  const stop = startCaller(url, { request: () => request, result, onAnswer: resolve })
  const timer = setTimeout(resolve, 5000, 0)
  const status = await promise
  clearTimeout(timer)
  const ms = performance.now() - began
  await stop()
  return { status, ms }
}

/** Sends a request every so many milliseconds. `stop` returns the fraction with status 200. */
export function sendNewcomers(
  url: string,
  { everyMs, request }: { everyMs: number; request: () => string },
): { stop(): Promise<number> } {
  const asked: ReturnType<typeof askOnce>[] = []
  const timer = setInterval(() => asked.push(askOnce(url, request())), everyMs)
  return {
    async stop() {
      clearInterval(timer)
      const answers = await Promise.all(asked)
      return answers.filter(({ status }) => status === 200).length / answers.length
    },
  }
}

type CallerOptions = {
  request: () => string
  result: CrowdResult
  onAnswer?: (status: number) => void
}

/** Returns the function that stops the client. */
function startCaller(url: string, { request, result, onAnswer }: CallerOptions) {
  const { hostname, port } = new URL(url)
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  let isStopped = false
  let socket = open()

  function open() {
    const socket = connect(Number(port), hostname)
    let received = ''
    let since = 0
    let isAsking = false

    function ask(): void {
      since = performance.now()
      isAsking = true
      socket.write(request(), 'latin1')
    }

    function read(chunk: Buffer): void {
      received += chunk.toString('latin1')
      const head = received.indexOf('\r\n\r\n')
      if (head === -1) return
      const length = Number(LENGTH.exec(received)?.[1] ?? 0)
      if (received.length < head + 4 + length) return
      const status = Number(received.slice(9, 12))
      const closes = /\r\nconnection: close/i.test(received.slice(0, head + 2))
      received = ''
      isAsking = false
      result.statuses.set(status, (result.statuses.get(status) ?? 0) + 1)
      if (status === 200) result.times.push(performance.now() - since)
      onAnswer?.(status)
      if (!closes && !onAnswer && !isStopped) ask()
    }

    socket.once('connect', ask)
    socket.on('data', read)
    // Lost requests are counted when the connection closes.
    socket.on('error', () => {})
    socket.once('close', () => {
      if (isStopped) return resolve()
      if (isAsking) result.lost++
      if (isAsking && onAnswer) onAnswer(0)
      // The server may be down, so the client pauses before the next attempt.
      if (!onAnswer) setTimeout(reopen, since === 0 ? REFUSED_MS : 0)
    })
    return socket
  }

  function reopen(): void {
    if (isStopped) resolve()
    else socket = open()
  }

  return async (): Promise<void> => {
    isStopped = true
    if (onAnswer && socket.closed) return
    socket.destroy()
    await ended
  }
}
