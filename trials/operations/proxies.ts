import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { buffer } from 'node:stream/consumers'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { endChild, untilUp } from '../../server/testing/child-process.ts'
import type { ProxyConfig, ProxySettings } from './proxy-configs.ts'

type Sent = {
  method?: string
  headers?: Record<string, string>
  body?: object
  /** The loopback address to call from. */
  from?: string
}

/**
 * Resolves when the proxy accepts connections. This process trusts its certificate. The caller
 * closes it.
 */
export async function startProxy(
  { program, run, cert }: ProxyConfig,
  { httpPort, httpsPort }: Pick<ProxySettings, 'httpPort' | 'httpsPort'>,
) {
  const proxy = spawn(program, run, { stdio: ['ignore', 'ignore', 'pipe'] })
  setDefaultCACertificates([...getCACertificates(), await readFile(cert, 'utf8')])
  const httpUrl = `http://127.0.0.1:${httpPort}`
  await untilUp(proxy, () => fetch(httpUrl, { redirect: 'manual' }).then(() => true))
  return {
    url: `https://localhost:${httpsPort}`,

    /** Calls the proxy over TLS, with its certificate verified. */
    async call(
      path: string,
      { method = 'GET', headers = {}, body, from = '127.0.0.1' }: Sent = {},
    ) {
      const sent = request(`https://localhost:${httpsPort}${path}`, {
        ...{ method, family: 4, localAddress: from, agent: false },
        headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
      })
      sent.end(body && JSON.stringify(body))
      const [answer] = (await once(sent, 'response')) as [IncomingMessage]
      const { headers: received, statusCode: status = 0 } = answer
      return { status, headers: received, body: await buffer(answer) }
    },

    close: () => endChild(proxy),
  }
}
