import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished, vi } from 'vitest'
import { ERRORS, type ErrorCode } from '../../contract/errors.ts'

type Reply = { status: number; body?: unknown; headers?: Record<string, string> }
type Received = Record<'call' | 'body', string> &
  Record<'bearer' | 'cache' | 'user' | 'key', string | undefined>

export type AnsweringServer = Awaited<ReturnType<typeof startAnsweringServer>>

/**
 * Starts an HTTP server that answers the calls of a page as the test defines, and records them. The
 * page has a storage of its own. All ends with the test.
 */
export async function startAnsweringServer() {
  const http = createServer(async (request, response) => {
    const { status, body, headers } = await replyTo(request)
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(body === undefined ? undefined : JSON.stringify(body))
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))

  async function replyTo(request: IncomingMessage): Promise<Reply> {
    let body = ''
    for await (const chunk of request) body += chunk
    const call = `${request.method} ${request.url}`
    const headers = request.headers as Record<string, string | undefined>
    const { authorization: bearer, 'idempotency-key': key, ...others } = headers
    const { 'cache-control': cache, 'x-user': user } = others
    const current = { call, bearer, cache, user, key, body }
    server.received.push(current)
    const isRefresh = call === 'PATCH /api/v1/sessions/current'
    return isRefresh ? server.refresh(server.refreshes()) : server.answer(current)
  }

  const server = {
    origin: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    received: [] as Received[],
    /** Answers every request but the refreshes of the token. */
    answer: (_request: Received): Reply | Promise<Reply> => ({ status: 200, body: {} }),
    /** Answers the `n`th refresh, from 1. */
    refresh: (n: number): Reply => tokenReply(n, 300),
    refreshes: () => server.received.filter(({ call }) => call.startsWith('PATCH')).length,

    async close(): Promise<void> {
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  }
  vi.stubGlobal('location', { origin: server.origin })
  vi.stubGlobal('localStorage', sessionStorage)
  sessionStorage.setItem('client-token', 'this-browser')
  onTestFinished(() => {
    sessionStorage.clear()
    return server.close()
  })
  return server
}

/** Returns a token that expires `livesSeconds` after `date` (unix ms), the server's time. */
export function tokenReply(n: number, livesSeconds: number, date = Date.now()): Reply {
  const expiresAt = Math.floor(date / 1000) + livesSeconds
  return {
    status: 200,
    body: { accessToken: { token: `token-${n}`, expiresAt } },
    headers: { date: new Date(date).toUTCString() },
  }
}

export function refusal(code: ErrorCode, headers?: Record<string, string>): Reply {
  const { status, message } = ERRORS[code]
  return { status, body: { code, message }, ...(headers && { headers }) }
}
