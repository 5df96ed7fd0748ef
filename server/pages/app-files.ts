import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyError, FastifyInstance } from 'fastify'
import type { Config } from '../kernel/config/config.ts'
import { securityHeaders } from '../kernel/http/headers.ts'
import { isFormerHost } from './moved-page.ts'
import type { WebApp } from './web-app.ts'

const WORKER = 'service-worker.js'
const WORKER_OFF = 'service-worker-off.js'
const MANIFEST = 'manifest.webmanifest'
const CONFIGURED = [WORKER, WORKER_OFF, MANIFEST]
/** Precondition Failed and Range Not Satisfiable: no errors of the API. */
const ANSWERED_AS_HTTP = new Set([412, 416])
const ONE_RANGE = /^bytes=(?:(\d+)-(\d*)|-\d+)$/

export async function serveAppFiles(
  files: FastifyInstance,
  web: WebApp,
  config: Pick<Config, 'formerUrls' | 'publicUrl' | 'hstsSubdomains'>,
): Promise<void> {
  const { folder, appName, serviceWorker } = web
  // A file has no inline parts: without their hashes its headers take half.
  const headers = securityHeaders(config)
  files.addHook('onRequest', async (_request, reply) => void reply.headers(headers))
  handleRanges(files)
  await files.register(fastifyStatic, {
    root: join(folder, 'assets'),
    prefix: '/assets/',
    wildcard: false,
    preCompressed: true,
    immutable: true,
    maxAge: '365d',
    index: false,
  })
  await files.register(fastifyStatic, {
    root: folder,
    wildcard: false,
    preCompressed: true,
    maxAge: '1h',
    index: false,
    decorateReply: false,
    globIgnore: ['assets/**', '.*', ...CONFIGURED.map((name) => `${name}*`)],
  })
  files.get(`/${WORKER}`, (request, reply) => {
    const isKept = serviceWorker && !isFormerHost(config, request.host)
    const script = isKept ? WORKER : WORKER_OFF
    return reply
      .header('cache-control', 'no-cache')
      .sendFile(script, folder, { cacheControl: false })
  })
  const built = JSON.parse(await readFile(join(folder, MANIFEST), 'utf8'))
  const manifest = JSON.stringify({ ...built, name: appName, short_name: appName })
  files.get(`/${MANIFEST}`, (_request, reply) =>
    reply
      .header('cache-control', 'public, max-age=3600')
      .type('application/manifest+json; charset=utf-8')
      .send(manifest),
  )
}

/** Sends the whole file unless a GET asks for one valid range; 416 if the file has none of it. */
function handleRanges(files: FastifyInstance): void {
  files.addHook('onRequest', async ({ method, raw: { headers } }) => {
    if (method !== 'GET' || !isRange(headers.range)) delete headers.range
  })
  files.setErrorHandler<FastifyError & { headers?: Record<string, string> }>(
    (error, _request, reply) => {
      const { statusCode = 500, headers } = error
      if (!ANSWERED_AS_HTTP.has(statusCode)) throw error
      return reply
        .code(statusCode)
        .headers({ ...headers, 'cache-control': 'no-store' })
        .send()
    },
  )
}

function isRange(text = ''): boolean {
  const [range, first, last] = ONE_RANGE.exec(text) ?? []
  return range !== undefined && (!first || !last || Number(first) <= Number(last))
}
