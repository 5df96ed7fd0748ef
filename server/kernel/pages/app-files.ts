import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'

const WORKER = 'service-worker.js'
const WORKER_OFF = 'service-worker-off.js'
const MANIFEST = 'manifest.webmanifest'

/** The files whose answer depends on the operator's configuration. */
export const APP_FILES = [WORKER, WORKER_OFF, MANIFEST]

type Options = {
  /** Folder of the built web app. */
  folder: string
  site: { appName: string }
  /** Whether browsers get the service worker; if not, they get one that removes it. */
  serviceWorker: boolean
}

/** Serves the service worker, and the manifest of the installed app under the operator's name for it. */
export async function serveAppFiles(
  files: FastifyInstance,
  { folder, site, serviceWorker }: Options,
): Promise<void> {
  // Files are no calls of the API.
  const schema = { hide: true }
  if (existsSync(join(folder, WORKER))) {
    const script = serviceWorker ? WORKER : WORKER_OFF
    files.get(`/${WORKER}`, { schema }, (_request, reply) =>
      reply.header('cache-control', 'no-cache').sendFile(script, folder, { cacheControl: false }),
    )
  }
  if (existsSync(join(folder, MANIFEST))) {
    const built = JSON.parse(await readFile(join(folder, MANIFEST), 'utf8'))
    const manifest = JSON.stringify({ ...built, name: site.appName, short_name: site.appName })
    files.get(`/${MANIFEST}`, { schema }, (_request, reply) =>
      reply
        .header('cache-control', 'public, max-age=3600')
        .type('application/manifest+json; charset=utf-8')
        .send(manifest),
    )
  }
}
