import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { cursorIn, PATHS, pageAt, searchIn, TEXT_NAMES } from '../../contract/pages.ts'
import type { ResponseCache } from '../kernel/cache/response-cache.ts'
import { AppError } from '../kernel/errors/app-error.ts'
import { MADE_PAGES, PAGE_FILES, VISITOR_CALLS } from '../kernel/http/call-limits.ts'
import { NO_POST_CACHE_CONTROL, noteRefusal } from '../kernel/http/error-handler.ts'
import { HTML_TYPE } from '../kernel/http/refusal.ts'
import type { Http } from '../kernel/http/route.ts'
import type { Limits } from '../kernel/limits/limits.ts'
import { serveAppFiles } from './app-files.ts'
import { serveFeeds } from './feeds.ts'
import { headOf, type Missing, type Shown, siteStateMeta, VISITOR_META } from './page-head.ts'
import type { PageReads } from './page-reads.ts'
import { servePostPictures } from './post-pictures.ts'
import {
  createRenderedPages,
  PageMoved,
  type PublicPage,
  type Reader,
  urlOf,
} from './rendered-pages.ts'
import { serveSitemap } from './sitemap.ts'
import type { WebApp } from './web-app.ts'

const NOT_NOW =
  'Страница сейчас не открывается. Через несколько секунд она загрузится ещё раз' +
  '<meta http-equiv="refresh" content="5">'

const RENDERED = new Set(['wall', 'post', 'author', 'authorReplies', 'search'])

type Options = {
  /** The built web app; null where there is none, and then there are no pages. */
  web: WebApp | null
  reads: PageReads
  cache: Pick<ResponseCache, 'serveShared'>
  limits: Limits
  cookieName: string
  headers: Record<string, string>
  appName: string
  origin: string
}

/**
 * Makes the page in place of one for which there is no time now, without and with a session. The
 * browser's app fills it, by calls of the API; without scripts it loads again.
 */
export function pageNotNow(web: WebApp): Record<Reader, string> {
  const { before, after } = shellNotNow(web)
  const start = before + headOf('other', web)
  return { visitor: start + VISITOR_META + after, session: start + after }
}

function shellNotNow({ shell }: WebApp): WebApp['shell'] {
  return { ...shell, after: shell.after.replace(/(?<=<noscript>).*(?=<\/noscript>)/s, NOT_NOW) }
}

/** Serves all that is no call of the API, and answers what is not found. */
export async function servePages(http: FastifyInstance, options: Options): Promise<void> {
  const { web, limits } = options
  const pages = web && createPages(web, options)
  if (pages) {
    http.addHook('onClose', web.maker.stop)
    await servePostPictures(http, { ...options, web })
    await http.register(async (site) => {
      site.addHook('onRequest', ({ ip }) => limits.charge([{ limit: PAGE_FILES, ip }]))
      await serveAppFiles(site, web)
      for (const [name, path] of Object.entries(PATHS)) {
        const config = RENDERED.has(name) ? { lane: laneOf } : {}
        site.get(path, { config, schema: { hide: true } }, (request, reply) =>
          pages.send(request, reply),
        )
      }
    })
  }
  await serveFeeds(http, options)
  await serveSitemap(http, options)
  // In a context of its own, whose hook runs for nothing else.
  await http.register(async (missing) => {
    missing.addHook('onRequest', async (request, reply) => {
      const isPage = pages && wantsPage(request)
      const limit = isPage ? PAGE_FILES : VISITOR_CALLS
      await limits.charge([{ limit, ip: request.ip }])
      if (isPage) return
      // Before the body is read: the server must not wait for one that nobody needs.
      const allowed = http.methodsAt(request.url)
      if (allowed.length === 0) throw new AppError('NOT_FOUND')
      reply.header('allow', allowed.join(', '))
      if (request.method !== 'OPTIONS') throw new AppError('METHOD_NOT_ALLOWED')
      return reply.code(204).send()
    })
    missing.setNotFoundHandler((request, reply) => {
      if (!pages || !wantsPage(request)) throw new AppError('NOT_FOUND')
      return pages.send(request, reply)
    })
  })
}

/** All read the beginning of the wall: it does not wait behind the pages that scrapers read. */
const laneOf = ({ url }: FastifyRequest) => (url === PATHS.wall ? 'call' : 'page')

function wantsPage({ method, url }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && !/^\/(?:api|assets)\//.test(url)
}

/** Returns the one spelling of an address: its path, and the parameters that have a value. */
function spell(path: string, query: string): string {
  const given = query.split('&').filter((part) => /=./s.test(part))
  return given.length > 0 ? `${path}?${given.join('&')}` : path
}

function createPages(web: WebApp, { cookieName, limits, ...options }: Options) {
  const { reads } = options
  const rendered = createRenderedPages(web, options)
  const refusedShell = shellNotNow(web)
  const hasSession = (request: FastifyRequest) => request.cookies[cookieName] !== undefined

  /** Sends a page that the browser fills: what is no page for visitors, or could not be read. */
  async function sendShell({ request, reply }: Http, shown: Shown): Promise<FastifyReply> {
    const { before, after } = shown === 'other' ? refusedShell : web.shell
    const session = hasSession(request) ? '' : VISITOR_META
    const state = siteStateMeta(await reads.readSiteState())
    return reply
      .headers({ 'cache-control': 'private, no-cache', vary: 'Cookie' })
      .type(HTML_TYPE)
      .send(before + headOf(shown, web) + state + session + after)
  }

  /** Says that there is no such post, or no such page. */
  async function sendMissing(http: Http, shown: Missing): Promise<FastifyReply> {
    const { request, reply } = http
    reply.code(404)
    // What is no page for visitors may be one for the signed-in user.
    if (hasSession(request)) return sendShell(http, shown)
    const accepted = request.headers['accept-encoding']
    const missing = await rendered.missing(shown)
    const { headers, body } = await missing.variantFor(accepted)
    const cacheControl = shown === 'no post' ? NO_POST_CACHE_CONTROL : 'no-cache'
    return reply.headers({ ...headers, 'cache-control': cacheControl }).send(body)
  }

  /** Sends a page as visitors see it. One that cannot be read now is an error that tries again. */
  async function sendPublic(http: Http, page: PublicPage): Promise<FastifyReply> {
    const { request, reply } = http
    try {
      const { ip } = request
      await limits.charge([
        { limit: VISITOR_CALLS, ip },
        { limit: MADE_PAGES, ip },
      ])
      const reader = hasSession(request) ? 'session' : 'visitor'
      return reply.send(await rendered.serve(page, { request, reply, reader }))
    } catch (error) {
      if (isCode(error, 'POST_NOT_FOUND')) return sendMissing(http, 'no post')
      if (isCode(error, 'AUTHOR_NOT_FOUND')) return sendMissing(http, 'no author')
      // Only for now: another may take the name that its author has given up.
      if (error instanceof PageMoved) return reply.redirect(error.url, 302)
      // The cursor is malformed: the list begins anew.
      if (isCode(error, 'INVALID_REQUEST')) return reply.redirect(urlOf({ ...page, cursor: '' }))
      noteRefusal(reply, error as Error)
      // The shell needs no database: it says what it cannot show yet, and tries again.
      return sendShell(http, 'other')
    }
  }

  return {
    /**
     * Sends the page at an address, or redirects to its one spelling, or says that there is none.
     */
    send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> | FastifyReply {
      const http = { request, reply }
      const [path = '/', query = ''] = request.url.split(/\?(.*)/s)
      const page = pageAt(path)
      if (page === null || page.name === 'moderation') return sendMissing(http, 'nothing')
      const spelled = spell(page.path, query)
      if (spelled !== request.url) return reply.redirect(spelled, 308)
      const cursor = cursorIn(query)
      if (page.name === 'post') return sendPublic(http, { name: 'post', id: page.id, cursor })
      if (page.name === 'author' || page.name === 'authorReplies') {
        return sendPublic(http, { name: page.name, username: page.username, cursor })
      }
      if (page.name === 'wall') return sendPublic(http, { name: 'wall', cursor })
      if (page.name === 'search') {
        return sendPublic(http, { name: 'search', q: searchIn(query), cursor })
      }
      const text = TEXT_NAMES.find((name) => name === page.name)
      if (text !== undefined) return sendPublic(http, { name: 'text', text, cursor })
      return sendShell(http, 'own')
    },
  }
}

function isCode(error: unknown, code: AppError['code']): boolean {
  return error instanceof AppError && error.code === code
}
