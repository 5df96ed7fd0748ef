import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'
import type { WebApp } from './web-app.ts'

const WORKER = 'service-worker.js'
const WORKER_OFF = 'service-worker-off.js'
const MANIFEST = 'manifest.webmanifest'
const CONFIGURED = [WORKER, WORKER_OFF, MANIFEST]

export async function serveAppFiles(files: FastifyInstance, web: WebApp): Promise<void> {
  const { folder, appName, serviceWorker } = web
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
  const script = serviceWorker ? WORKER : WORKER_OFF
  files.get(`/${WORKER}`, (_request, reply) =>
    reply.header('cache-control', 'no-cache').sendFile(script, folder, { cacheControl: false }),
  )
  const built = JSON.parse(await readFile(join(folder, MANIFEST), 'utf8'))
  const manifest = JSON.stringify({ ...built, name: appName, short_name: appName })
  files.get(`/${MANIFEST}`, (_request, reply) =>
    reply
      .header('cache-control', 'public, max-age=3600')
      .type('application/manifest+json; charset=utf-8')
      .send(manifest),
  )
}
