import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Post } from '../../contract/posts.ts'
import { AppError } from '../http/app-error.ts'
import type { Limit } from '../rate-limits/rate-limits.ts'
import { linksTo } from './chunk-links.ts'
import { callsAhead, escapeHtml, headOf, type Shown, type SiteFacts } from './page-head.ts'
import { screenAt } from './screens.ts'

/** The built web app: its one page, in which the server states what the browser must know at once. */
export type Page = {
  folder: string
  /** Its HTML around the place for what depends on the address. */
  before: string
  after: string
  /** The same after it, with links to the scripts that only the page of a post needs. */
  afterPost: string
  site: SiteFacts
  inlineScriptHashes: string[]
}

type Facts = { appName: string; editPeriodSeconds: number; publicUrl: string | undefined }

type Options = {
  cookieName: string
  /** A post as any visitor sees it; rejects with POST_NOT_FOUND. */
  readPost: (id: string) => Promise<Post>
  /** Charged for each such read, and for what nobody serves. */
  limit: Limit
  /** Charged for each page and file. */
  fileLimit: Limit
}

/** What the page says of its visitor's session where no cookie came with the request for it. */
type Absence = 'none' | 'unseen'
/** Requests begun by our own pages or by the person: the session's SameSite=Strict cookie comes along with these. */
const OWN_NAVIGATIONS = new Set<unknown>([undefined, 'none', 'same-origin'])
const TITLE = /<title>.*?<\/title>/
const DESCRIPTION = /<meta name="description" content="(.*?)"[ /]*>/

/** Reads the built page and fills in what the operator configured; null when the web was not built. */
export async function loadPage(folder: string, facts: Facts): Promise<Page | null> {
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
    afterPost: after.replace('</head>', `${await linksTo('pages/post-page.tsx', folder)}</head>`),
    inlineScriptHashes: scripts.map(hashOf),
  }
}

/** Serves the web app: assets for ever, everything else as its one page. Unknown API paths are NOT_FOUND. */
export async function servePages(
  app: FastifyInstance,
  page: Page | null,
  options: Options,
): Promise<void> {
  if (page) await serveFiles(app, page.folder, options.fileLimit)
  const htmlOf = page && createPrinter(page)
  // Before the body is read: what nobody serves must not keep the server waiting for the rest of it.
  app.addHook('onRequest', (request, _reply, done) => {
    // No promise for the calls that are served: this runs for each of them.
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

/** Null where a session cookie came; `unseen` where one may be kept, which a link on another site does not bring along. */
function absenceOfSession(request: FastifyRequest, cookieName: string): Absence | null {
  if (request.cookies[cookieName] !== undefined) return null
  return OWN_NAVIGATIONS.has(request.headers['sec-fetch-site']) ? 'none' : 'unseen'
}

async function findShown(request: FastifyRequest, { readPost, limit }: Options): Promise<Shown> {
  const screen = screenAt(request.url.split('?', 1)[0] ?? '/')
  if (screen === null) return 'nothing'
  if (screen.name !== 'post') return screen.name
  try {
    await limit.chargeNetwork(request.ip)
    return await readPost(screen.id)
  } catch (error) {
    if (!(error instanceof AppError)) {
      request.log.warn({ reqId: request.id, err: error }, 'a page was served without its post')
    } else if (error.code === 'POST_NOT_FOUND') return 'no post'
    // The page itself needs no database: what it cannot show yet, it says and tries again.
    return 'other'
  }
}

/** Makes the page's HTML; what is the same for everybody, once. */
function createPrinter({ before, after, afterPost, site }: Page) {
  const made = new Map<string, Buffer>()

  function print(shown: Shown, absence: Absence | null): Buffer {
    const forVisitor = absence
      ? `<meta name="session" content="${absence}">${callsAhead(shown)}`
      : ''
    const rest = typeof shown === 'string' ? after : afterPost
    return Buffer.from(before + headOf(shown, site) + forVisitor + rest)
  }

  return (shown: Shown, absence: Absence | null): Buffer => {
    if (typeof shown !== 'string') return print(shown, absence)
    const key = `${shown} ${absence}`
    const html = made.get(key) ?? print(shown, absence)
    made.set(key, html)
    return html
  }
}

function hashOf(script: string): string {
  return `'sha256-${createHash('sha256').update(script).digest('base64')}'`
}
