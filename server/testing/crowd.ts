import { connect } from 'node:net'

/** What a crowd was answered. */
export type CrowdResult = {
  /** How often each status came. */
  statuses: Map<number, number>
  /** Requests whose connection ended before their answer did. */
  lost: number
  /** Milliseconds from each request that was served to its answer. */
  times: number[]
}

export type Crowd = {
  result: CrowdResult
  /** Ends all connections; resolves to what was answered. */
  stop(): Promise<CrowdResult>
}

type Options = {
  url: string
  connections: number
  /** The bytes of a request without a body, made anew for each. */
  request: () => string
}

const REFUSED_MS = 20
const LENGTH = /\r\ncontent-length: (\d+)/i

/**
 * Lets a crowd ask a server: each caller on a connection of its own, the next request as soon as the one before is
 * answered, and a new connection as soon as the old one is closed. No refusal makes them wait.
 */
export function openCrowd({ url, connections, request }: Options): Crowd {
  const result: CrowdResult = { statuses: new Map(), lost: 0, times: [] }
  const callers = Array.from({ length: connections }, () => startCaller(url, { request, result }))
  return {
    result,
    async stop() {
      await Promise.all(callers.map((stop) => stop()))
      return result
    },
  }
}

/** Asks once, on a connection of its own; the status, or 0 where no answer came within 5 s. */
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

/** Lets somebody new come every so many milliseconds; what ends it resolves to the share of them who were served. */
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

/** Starts one caller; returns what ends it. */
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
    // What was lost is counted when the connection closes.
    socket.on('error', () => {})
    socket.once('close', () => {
      if (isStopped) return resolve()
      if (isAsking) result.lost++
      if (isAsking && onAnswer) onAnswer(0)
      // Nobody may listen any more: no need to find out without pause.
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
