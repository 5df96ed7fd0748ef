import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Post } from '../../contract/posts.ts'
import { AppError } from '../http/app-error.ts'
import type { Limit } from '../rate-limits/rate-limits.ts'
import { modulePreloads } from './chunk-links.ts'
import {
  escapeHtml,
  headOf,
  pageAt,
  preloadLinks,
  type Shown,
  type SiteFacts,
} from './page-head.ts'

/** The built web app: its one page, with the facts that the browser needs at once. */
export type WebApp = {
  folder: string
  /** The page's HTML before and after the part that depends on the URL. */
  before: string
  after: string
  /** As `after`, with preload links to the scripts that only the page of a post needs. */
  afterPost: string
  site: SiteFacts
  inlineScriptHashes: string[]
}

type Facts = { appName: string; editPeriodSeconds: number; publicUrl: string | undefined }

type Options = {
  cookieName: string
  /** Resolves to a post as any visitor sees it; rejects with POST_NOT_FOUND. */
  readPost: (id: string) => Promise<Post>
  /** The rate limit on such reads, and on URLs that nothing serves. */
  limit: Limit
  /** The rate limit on pages and files. */
  fileLimit: Limit
}

/** What the page knows about the viewer's session where its request had no cookie. */
type Absence = 'none' | 'unseen'
/** Sources of requests that carry the session's SameSite=Strict cookie: our own pages, and the person. */
const OWN_NAVIGATIONS = new Set<unknown>([undefined, 'none', 'same-origin'])
const TITLE = /<title>.*?<\/title>/
const DESCRIPTION = /<meta name="description" content="(.*?)"[ /]*>/

/** Reads the built page and fills in the operator's configuration; null when the web app was not built. */
export async function loadWebApp(folder: string, facts: Facts): Promise<WebApp | null> {
  const path = join(folder, 'index.html')
  if (!existsSync(path)) return null
  const built = await readFile(path, 'utf8')
  const { appName, publicUrl, editPeriodSeconds } = facts
  const scripts = [...built.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, code = '']) => code)
  const [before = '', after = ''] = built.replace(DESCRIPTION, '').split(TITLE)
  return {
    folder,
    before:
      `${before}<meta name="application-name" content="${escapeHtml(appName)}">` +
      `<meta name="edit-period-seconds" content="${editPeriodSeconds}">`,
    after,
    site: { appName, publicUrl, description: DESCRIPTION.exec(built)?.[1] ?? '' },
    afterPost: after.replace(
      '</head>',
      `${await modulePreloads('pages/post-page.tsx', folder)}</head>`,
    ),
    inlineScriptHashes: scripts.map(hashOf),
  }
}

/** Serves the web app: its assets, which browsers cache for ever, and its one page at all other URLs; NOT_FOUND under /api/. */
export async function servePages(
  app: FastifyInstance,
  web: WebApp | null,
  options: Options,
): Promise<void> {
  if (web) await serveFiles(app, web.folder, options.fileLimit)
  const htmlOf = web && createRenderer(web)
  // Before the body is read: the server must not wait for the body of a request that nothing serves.
  app.addHook('onRequest', (request, _reply, done) => {
    // Without a promise, since this runs for each call.
    if (!request.is404) return done()
    const { ip } = request
    if (htmlOf && wantsPage(request)) options.fileLimit.chargeNetwork(ip).then(() => done(), done)
    else options.limit.chargeNetwork(ip).then(() => done(new AppError('NOT_FOUND')), done)
  })
  app.setNotFoundHandler(async (request, reply) => {
    if (!htmlOf) throw new AppError('NOT_FOUND')
    const shown = await findShown(request, options)
    const absence = absenceOfSession(request, options.cookieName)
    return reply
      .code(shown === 'no post' || shown === 'nothing' ? 404 : 200)
      .headers({ 'cache-control': 'no-cache', vary: 'Cookie, Sec-Fetch-Site' })
      .type('text/html; charset=utf-8')
      .send(htmlOf(shown, absence))
  })
}

async function serveFiles(app: FastifyInstance, folder: string, limit: Limit): Promise<void> {
  await app.register(async (files) => {
    files.addHook('onRequest', (request) => limit.chargeNetwork(request.ip))
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
      globIgnore: ['assets/**', 'index.html*', '.*'],
    })
  })
}

function wantsPage({ method, url }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && !/^\/(?:api|assets)\//.test(url)
}

/** Returns null where the request has a session cookie; `unseen` where there may be one that a link on another site does not send. */
function absenceOfSession(request: FastifyRequest, cookieName: string): Absence | null {
  if (request.cookies[cookieName] !== undefined) return null
  return OWN_NAVIGATIONS.has(request.headers['sec-fetch-site']) ? 'none' : 'unseen'
}

async function findShown(request: FastifyRequest, { readPost, limit }: Options): Promise<Shown> {
  const page = pageAt(request.url.split('?', 1)[0] ?? '/')
  if (page === null) return 'nothing'
  if (page.name !== 'post') return page.name
  try {
    await limit.chargeNetwork(request.ip)
    return await readPost(page.id)
  } catch (error) {
    if (!(error instanceof AppError)) {
      request.log.warn({ reqId: request.id, err: error }, 'a page was served without its post')
    } else if (error.code === 'POST_NOT_FOUND') return 'no post'
    // The page itself needs no database: it says what it cannot show yet, and tries again.
    return 'other'
  }
}

/** Makes the function that renders the page; HTML that is the same for everybody is rendered once. */
function createRenderer({ before, after, afterPost, site }: WebApp) {
  const rendered = new Map<string, Buffer>()

  function render(shown: Shown, absence: Absence | null): Buffer {
    const forVisitor = absence
      ? `<meta name="session" content="${absence}">${preloadLinks(shown)}`
      : ''
    const rest = typeof shown === 'string' ? after : afterPost
    return Buffer.from(before + headOf(shown, site) + forVisitor + rest)
  }

  return (shown: Shown, absence: Absence | null): Buffer => {
    if (typeof shown !== 'string') return render(shown, absence)
    const key = `${shown} ${absence}`
    const html = rendered.get(key) ?? render(shown, absence)
    rendered.set(key, html)
    return html
  }
}

function hashOf(script: string): string {
  return `'sha256-${createHash('sha256').update(script).digest('base64')}'`
}
