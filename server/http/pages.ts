import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from './app-error.ts'

/** The built web app: its one page, in which the server states what the browser must know at once. */
export type Page = { folder: string; html: string; inlineScriptHashes: string[] }

type Facts = { appName: string; editPeriodSeconds: number }

/** Addresses the web app has a screen for; it shows “not found” at any other, which is then a 404. */
const SCREENS =
  /^\/(?:posts\/[^/]+|liked|own\/(?:posts|replies)|settings(?:\/(?:devices|account\/(?:email|username)))?)?$/

const NO_SESSION = '<meta name="session" content="none">'

/** Reads the built page and fills in what the operator configured; null when the web was not built. */
export async function loadPage(folder: string, facts: Facts): Promise<Page | null> {
  const path = join(folder, 'index.html')
  if (!existsSync(path)) return null
  const built = await readFile(path, 'utf8')
  const scripts = [...built.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, code = '']) => code)
  const appName = escapeHtml(facts.appName)
  const html = built
    .replace(/<title>.*?<\/title>/, () => `<title>${appName}</title>`)
    .replace(
      '</head>',
      () =>
        `<meta name="application-name" content="${appName}">` +
        `<meta name="edit-period-seconds" content="${facts.editPeriodSeconds}"></head>`,
    )
  return { folder, html, inlineScriptHashes: scripts.map(hashOf) }
}

/** Serves the web app: assets for ever, everything else as its one page. Unknown API paths are NOT_FOUND. */
export async function servePages(
  app: FastifyInstance,
  page: Page | null,
  { cookieName }: { cookieName: string },
): Promise<void> {
  if (page) await serveFiles(app, page.folder)
  const withSession = page && Buffer.from(page.html)
  const withoutSession = page && Buffer.from(page.html.replace('</head>', `${NO_SESSION}</head>`))

  app.setNotFoundHandler((request, reply) => {
    const isPage = request.method === 'GET' || request.method === 'HEAD'
    if (!withSession || !isPage || !wantsPage(request)) throw new AppError('NOT_FOUND')
    const hasSession = request.cookies[cookieName] !== undefined
    return sendPage(request, reply, hasSession ? withSession : withoutSession)
  })
}

async function serveFiles(app: FastifyInstance, folder: string): Promise<void> {
  await app.register(fastifyStatic, {
    root: join(folder, 'assets'),
    prefix: '/assets/',
    wildcard: false,
    preCompressed: true,
    immutable: true,
    maxAge: '365d',
    index: false,
  })
  await app.register(fastifyStatic, {
    root: folder,
    wildcard: false,
    preCompressed: true,
    maxAge: '1h',
    index: false,
    decorateReply: false,
    globIgnore: ['assets/**', 'index.html*', '.*'],
  })
}

function wantsPage(request: FastifyRequest): boolean {
  return !/^\/(?:api|assets)\//.test(request.url)
}

function sendPage(request: FastifyRequest, reply: FastifyReply, html: Buffer | null) {
  const path = request.url.split('?', 1)[0] ?? '/'
  return reply
    .code(SCREENS.test(path) ? 200 : 404)
    .headers({ 'cache-control': 'no-cache', vary: 'Cookie' })
    .type('text/html; charset=utf-8')
    .send(html)
}

function hashOf(script: string): string {
  return `'sha256-${createHash('sha256').update(script).digest('base64')}'`
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
}
