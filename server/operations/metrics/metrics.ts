import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client'
import type { FastifyBaseLogger } from 'fastify'
import type { ListenAddress } from '../../kernel/http/listen.ts'
import type { ObserveRequest } from '../../kernel/http/request-log.ts'
import { ListenFailure } from '../start/start-failure.ts'
import { addGauges, type GaugeSources } from './gauges.ts'

/** In seconds. */
const BUCKETS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10]

export function createMetrics(version: string) {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const requests = new Histogram({
    name: 'vslukh_http_request_duration_seconds',
    help: 'Requests by method, route and status, with the seconds until they were answered',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS,
    registers,
  })
  const hits = new Counter({
    name: 'vslukh_cache_hits_total',
    help: 'Reads that were answered from the cache, before any route',
    registers,
  })
  const mails = new Counter({
    name: 'vslukh_mails_total',
    help: 'Tries to send a mail by their outcome: sent, refused, unanswered, failed',
    labelNames: ['outcome'],
    registers,
  })
  const build = { name: 'vslukh_build_info', help: 'The version', labelNames: ['version', 'node'] }
  new Gauge({ ...build, registers }).set({ version, node: process.versions.node }, 1)

  const observe: ObserveRequest = ({ method, route, status, ms }, isCacheHit) => {
    requests.observe({ method, route: route ?? 'none', status }, ms / 1000)
    if (isCacheHit) hits.inc()
  }
  return {
    observe,
    countTry: (outcome: string) => mails.inc({ outcome }),
    /** Serves `GET /metrics`. Resolves to the function that stops it. Throws StartError. */
    serve: (address: ListenAddress, sources: GaugeSources & { log: FastifyBaseLogger }) =>
      serve(registry, address, sources),
  }
}

async function serve(
  registry: Registry,
  { port, host }: ListenAddress,
  { log, ...sources }: GaugeSources & { log: FastifyBaseLogger },
) {
  const update = addGauges(registry, sources)
  async function scrape(response: ServerResponse): Promise<void> {
    await update()
    const text = await registry.metrics()
    response.writeHead(200, { 'content-type': registry.contentType }).end(text)
  }
  const server = createServer((request, response) => {
    if (!isOwnHost(request.headers.host, host)) return void response.writeHead(421).end()
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (!isRead || URL.parse(request.url ?? '', 'http://metrics')?.pathname !== '/metrics') {
      return void response.writeHead(404).end()
    }
    scrape(response).catch((err) => {
      log.error({ err }, 'the metrics could not be read')
      response.writeHead(500).end()
    })
  })
  server.listen(port, host)
  await once(server, 'listening').catch((cause) => {
    throw new ListenFailure(cause, 'METRICS_')
  })
  return () => {
    server.close()
    server.closeAllConnections()
  }
}

/**
 * Returns whether the header Host is an address, a name without dots (localhost, a container's) or
 * the configured name. Any other name may lead here by DNS rebinding.
 */
function isOwnHost(header: string | undefined, configured: string): boolean {
  const name = (header ?? '').replace(/:\d+$/, '')
  return (
    isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0 || /^[\w-]+$/.test(name) || name === configured
  )
}
