import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { cursorIn, PATHS, type Page, pageAt, TEXT_NAMES } from '../../../contract/pages.ts'
import { variantFor } from '../cache/cached-response.ts'
import type { ResponseCache } from '../cache/response-cache.ts'
import { AppError } from '../errors/app-error.ts'
import { NO_POST_CACHE_CONTROL } from '../http/error-handler.ts'
import type { NoteRefused } from '../http/request-log.ts'
import type { Limit } from '../limits/rate-limits.ts'
import { APP_FILES, serveAppFiles } from './app-files.ts'
import { HTML_TYPE, headOf, type Shown, siteStateMeta, VISITOR_META } from './page-head.ts'
import {
  createRenderedPages,
  type PageReads,
  type PublicPage,
  TooBusyToRender,
  urlOf,
} from './rendered-pages.ts'
import type { WebApp } from './web-app.ts'

type Options = PageReads & {
  cookieName: string
  cache: Pick<ResponseCache, 'serveShared'>
  /** Counts a page without its content; returns whether the log needs nothing else about the error. */
  noteRefused: NoteRefused
  /** Headers that every response of the server has. */
  headers: Record<string, string>
  /** The rate limit on a visitor's reads, and on URLs that nothing serves. */
  limit: Limit
  /** The rate limit on pages and files. */
  fileLimit: Limit
}

/**
 * Serves the web app: its assets, which browsers cache for ever, and its pages at all other URLs; NOT_FOUND under /api/.
 * Public pages are rendered as visitors see them. Where that is not possible, and for all other pages, the shell is sent.
 */
export async function servePages(
  app: FastifyInstance,
  web: WebApp | null,
  options: Options,
): Promise<void> {
  if (web) await serveFiles(app, web, options.fileLimit)
  const sendPage = web && createPages(web, options)
  app.decorateRequest('pageRoute', undefined)
  // Before the body is read: the server must not wait for the body of a request that nothing serves.
  app.addHook('onRequest', (request, _reply, done) => {
    // Without a promise, since this runs for each call.
    if (!request.is404) return done()
    const { ip } = request
    if (sendPage && wantsPage(request)) {
      request.pageRoute = routeOf(pathOf(request))
      options.fileLimit.chargeNetwork(ip).then(() => done(), done)
    } else options.limit.chargeNetwork(ip).then(() => done(new AppError('NOT_FOUND')), done)
  })
  app.setNotFoundHandler((request, reply) => {
    if (!sendPage) throw new AppError('NOT_FOUND')
    return sendPage(request, reply)
  })
}

async function serveFiles(app: FastifyInstance, web: WebApp, limit: Limit): Promise<void> {
  const { folder } = web
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
      globIgnore: ['assets/**', 'index.html*', '.*', ...APP_FILES.map((name) => `${name}*`)],
    })
    await serveAppFiles(files, web)
  })
}

/** Makes the function that answers with a page. */
function createPages(web: WebApp, options: Options) {
  const { cookieName, limit, readPost, readText, readSiteState } = options
  const { rendered, site } = web
  const pages = rendered && createRenderedPages({ ...options, rendered, site })

  async function sendShell(request: FastifyRequest, reply: FastifyReply, shown: Shown) {
    const isVisitor = request.cookies[cookieName] === undefined
    const session = isVisitor ? VISITOR_META : ''
    const state = siteStateMeta(await readSiteState())
    return reply
      .code(isMissing(shown) ? 404 : 200)
      .headers({ 'cache-control': 'private, no-cache', vary: 'Cookie' })
      .type(HTML_TYPE)
      .send(web.shell.before + headOf(shown, site) + state + session + web.shell.after)
  }

  async function sendMissing(request: FastifyRequest, reply: FastifyReply, shown: Missing) {
    if (!pages || request.cookies[cookieName] !== undefined) {
      return sendShell(request, reply, shown)
    }
    const accepted = request.headers['accept-encoding']
    const { headers, body } = await variantFor(pages.missing[shown], accepted)
    return reply
      .code(404)
      .headers({
        ...headers,
        'cache-control': shown === 'no post' ? NO_POST_CACHE_CONTROL : 'no-cache',
      })
      .send(body)
  }

  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const [path = '/', query = ''] = request.url.split(/\?(.*)/s)
    const page = pageAt(path)
    if (page === null || page.name === 'moderation') return sendMissing(request, reply, 'nothing')
    const spelled = spell(page, query)
    if (spelled !== request.url) return reply.redirect(spelled, 308)
    const publicPage = publicPageOf(page, query)
    if (publicPage === null) return sendShell(request, reply, 'own')
    try {
      if (pages) {
        await limit.chargeNetwork(request.ip)
        const reader = request.cookies[cookieName] === undefined ? 'visitor' : 'session'
        return reply.code(200).send(await pages.serve(publicPage, { request, reply, reader }))
      }
      if (publicPage.name === 'wall') return sendShell(request, reply, 'wall')
      if (publicPage.name === 'text') {
        return sendShell(request, reply, { title: (await readText(publicPage.text)).title })
      }
      await limit.chargeNetwork(request.ip)
      return sendShell(request, reply, await readPost(publicPage.id))
    } catch (error) {
      if (isCode(error, 'POST_NOT_FOUND')) return sendMissing(request, reply, 'no post')
      if (isCode(error, 'INVALID_REQUEST')) return sendFirst(reply, publicPage)
      const isExpected = error instanceof AppError || error instanceof TooBusyToRender
      if (!isExpected && !options.noteRefused(error as Error)) {
        request.log.warn({ reqId: request.id, err: error }, 'a page was served without its content')
      }
      // The shell needs no database: it says what it cannot show yet, and tries again.
      return sendShell(request, reply, page.name === 'wall' ? 'wall' : 'other')
    }
  }
}

type Missing = 'no post' | 'nothing'

function isMissing(shown: Shown): shown is Missing {
  return shown === 'no post' || shown === 'nothing'
}

function isCode(error: unknown, code: AppError['code']): boolean {
  return error instanceof AppError && error.code === code
}

/** Redirects to the beginning of a list whose cursor in the address is malformed. */
function sendFirst(reply: FastifyReply, page: PublicPage): FastifyReply {
  return reply.redirect(urlOf({ ...page, cursor: null }), 302)
}

/** Returns the one spelling of an address: the page's path, and the parameters that have a value. */
function spell({ path }: Page, query: string): string {
  const given = query.split('&').filter((part) => /=./s.test(part))
  return given.length > 0 ? `${path}?${given.join('&')}` : path
}

/** Returns the page that visitors may see; null for one of the signed-in user. */
function publicPageOf(page: Page, query: string): PublicPage | null {
  const cursor = cursorIn(query)
  if (page.name === 'post') return { name: 'post', id: page.id, cursor }
  if (page.name === 'wall') return { name: 'wall', cursor }
  const text = TEXT_NAMES.find((name) => name === page.name)
  return text === undefined ? null : { name: 'text', text, cursor }
}

function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0] ?? '/'
}

/** Returns the pattern of the page at a path, as the log names it; undefined where there is no page. */
function routeOf(path: string): string | undefined {
  const page = pageAt(path)
  return page?.name === 'post' ? PATHS.post : page?.path
}

function wantsPage({ method, url }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && !/^\/(?:api|assets)\//.test(url)
}
