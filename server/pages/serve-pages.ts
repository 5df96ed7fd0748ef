import type { FastifyReply, FastifyRequest } from 'fastify'
import { TEXT_NAMES } from '../../contract/constants.ts'
import {
  cursorIn,
  isForUsers,
  MODERATION_PATH,
  PATHS,
  type Page,
  pageAt,
  type ReplyMailsState,
  replyMailsIn,
  replyMailsPath,
  searchTextIn,
} from '../../contract/pages.ts'
import { createUnsubscribeLinks, type UnsubscribeLinks } from '../features/answers/unsubscribe.ts'
import { AppError } from '../kernel/errors/app-error.ts'
import { callCharge, MADE_PAGES, PAGE_FILES, VISITOR_CALLS } from '../kernel/http/call-limits.ts'
import {
  answerError,
  markRefused,
  NO_POST_CACHE_CONTROL,
  PAGE_HEADERS,
  sendError,
} from '../kernel/http/error-handler.ts'
import { pageCacheControl } from '../kernel/http/refusal.ts'
import type { Http } from '../kernel/http/route.ts'
import { serveAppFiles } from './app-files.ts'
import { serveFeeds } from './feeds.ts'
import { registerMovedPage } from './moved-page.ts'
import type { MissingContent } from './page-head.ts'
import { servePostPictures } from './post-pictures.ts'
import {
  PAGES_WITH_LIST,
  PageRedirect,
  type PublicPage,
  type Reader,
  RenderedPages,
  urlOf,
} from './rendered-pages.ts'
import { registerSitemaps } from './sitemap.ts'
import type { PagesContext, WebApp } from './web-app.ts'

const WITH_LIST = new Set<string>(PAGES_WITH_LIST)
const PUBLIC = new Set<string>([...PAGES_WITH_LIST, ...TEXT_NAMES])

/** Serves pages, files, feeds and the sitemap, and answers requests for unknown paths. */
export async function servePages(site: PagesContext): Promise<void> {
  const { http, web, config, limits } = site
  registerMovedPage(site)
  const pages = web && new Pages(web, site)
  if (pages) {
    http.addHook('onClose', web.maker.stop)
    await servePostPictures(web, site)
    await http.register(async (files) => {
      files.addHook('onRequest', ({ ip }) => limits.charge([{ limit: PAGE_FILES, ip }]))
      await files.register((own) => serveAppFiles(own, web, config))
      for (const [name, path] of Object.entries(PATHS)) {
        const config = WITH_LIST.has(name) ? { lane: laneOf } : {}
        files.get(path, { config }, (request, reply) => pages.send({ request, reply }))
      }
    })
  }
  await serveFeeds(site)
  await registerSitemaps(site)
  await http.register(async (missing) => {
    missing.addHook('onRequest', async (request, reply) => {
      const isPage = pages && wantsPage(request)
      const limit = isPage ? PAGE_FILES : VISITOR_CALLS
      await limits.charge([{ limit, ip: request.ip }])
      if (isPage) return
      // Refused before the body is read, so that the server does not wait for it.
      const allowed = http.methodsAt(request.url)
      if (allowed.length === 0) throw new AppError('NOT_FOUND')
      reply.header('allow', allowed.join(', '))
      if (request.method !== 'OPTIONS') throw new AppError('METHOD_NOT_ALLOWED')
      return reply.code(204).send()
    })
    missing.setNotFoundHandler((request, reply) => {
      if (!pages || !wantsPage(request)) throw new AppError('NOT_FOUND')
      return pages.send({ request, reply })
    })
  })
}

/** The first page of the wall counts as a call, so it does not wait behind pages for scrapers. */
const laneOf = ({ url }: FastifyRequest) => (url === PATHS.wall ? 'call' : 'page')

function wantsPage({ method, url }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && !/^\/(?:api|assets)\//.test(url)
}

/** Returns the canonical URL of a page: its path with the parameters that have a value. */
function canonicalUrl(path: string, query: string): string {
  const given = query.split('&').filter((part) => /=./s.test(part))
  return given.length > 0 ? `${path}?${given.join('&')}` : path
}

class Pages {
  readonly #site: PagesContext
  readonly #rendered: RenderedPages
  readonly #unsubscribe: UnsubscribeLinks

  constructor(web: WebApp, site: PagesContext) {
    this.#site = site
    this.#rendered = new RenderedPages(web, site)
    this.#unsubscribe = createUnsubscribeLinks(site)
  }

  /** Sends the page at a URL, or redirects to its canonical URL. */
  send(http: Http): Promise<FastifyReply> | FastifyReply {
    const { url } = http.request
    const [path = '/', query = ''] = url.split(/\?(.*)/s)
    const page = pageAt(path)
    if (page === null) return this.#sendMissing(http, 'nothing')
    if (page.name === 'moderation') return this.#sendModeration(http)
    const spelled = canonicalUrl(page.path, query)
    if (spelled !== url) return http.reply.redirect(spelled, 308)
    if (page.name === 'replyMails') return this.#sendReplyMails(http, replyMailsIn(query))
    const shown = publicPage(page, query)
    if (shown) return this.#sendPublic(http, shown)
    return isForUsers(page) ? this.#sendOwn(http, page.path) : this.#sendShell(http, 'own')
  }

  /** Sends the page that stops reply mails; it is the same for every valid token. */
  #sendReplyMails(http: Http, state: ReplyMailsState): Promise<FastifyReply> | FastifyReply {
    const isAsking = state.name === 'ask'
    if (isAsking && this.#unsubscribe.userOf(state.token) === undefined) {
      return http.reply.redirect(replyMailsPath({ name: 'invalid' }))
    }
    const path = replyMailsPath(isAsking ? { ...state, token: 'valid' } : state)
    return this.#sendPublic(http, { name: 'replyMails', path, cursor: '', q: '' })
  }

  /** Sends a page that the browser fills. */
  async #sendShell({ request, reply }: Http, shows: 'own' | MissingContent): Promise<FastifyReply> {
    return reply
      .headers(PAGE_HEADERS)
      .send(await this.#rendered.shell(shows, this.#readerOf(request)))
  }

  async #sendOwn(http: Http, path: string): Promise<FastifyReply> {
    if (!this.#hasSession(http.request)) return this.#sendShell(http, 'own')
    try {
      return http.reply.send(await this.#rendered.serveOwn(path, http))
    } catch (error) {
      markRefused(http.reply, error as Error)
      return this.#sendShell(http, 'own')
    }
  }

  /** Sends the moderation page with 404; only a moderator's browser fills it. */
  #sendModeration(http: Http): Promise<FastifyReply> {
    if (!this.#hasSession(http.request)) return this.#sendMissing(http, 'nothing')
    http.reply.code(404)
    return this.#sendOwn(http, MODERATION_PATH)
  }

  async #sendMissing(http: Http, shows: MissingContent): Promise<FastifyReply> {
    const { request, reply } = http
    reply.code(404)
    // A page that does not exist for visitors may exist for a signed-in user.
    if (this.#hasSession(request)) return this.#sendShell(http, shows)
    const missing = await this.#rendered.missingPage(shows)
    const { headers, body } = await missing.variantFor(request.headers['accept-encoding'])
    const cacheControl = shows === 'missing post' ? NO_POST_CACHE_CONTROL : 'no-cache'
    return reply.headers({ ...headers, 'cache-control': pageCacheControl(cacheControl) }).send(body)
  }

  async #sendPublic(http: Http, page: PublicPage): Promise<FastifyReply> {
    const { request, reply } = http
    const { ip } = request
    try {
      await this.#site.limits.charge([callCharge(null, ip), { limit: MADE_PAGES, ip }])
      const reader = this.#readerOf(request)
      return reply.send(await this.#rendered.serve(page, { request, reply, reader }))
    } catch (error) {
      if (hasCode(error, 'POST_NOT_FOUND')) return this.#sendMissing(http, 'missing post')
      if (hasCode(error, 'NOT_FOUND')) return this.#sendMissing(http, 'missing author')
      // The redirect is temporary (302): another user may take the author's former name.
      if (error instanceof PageRedirect) return reply.redirect(error.url, 302)
      // The cursor is malformed, so the redirect leads to the beginning of the list.
      if (hasCode(error, 'INVALID_REQUEST')) return reply.redirect(urlOf({ ...page, cursor: '' }))
      const refusedPage = await this.#rendered.refusedPage(this.#readerOf(request))
      return sendError(reply, answerError(error as Error, { headers: {}, page: refusedPage }))
    }
  }

  #readerOf(request: FastifyRequest): Reader {
    return this.#hasSession(request) ? 'session' : 'visitor'
  }

  #hasSession({ cookies }: FastifyRequest): boolean {
    return cookies[this.#site.sessions.cookieName] !== undefined
  }
}

function publicPage(page: Page, query: string): PublicPage | null {
  if (!isPublic(page)) return null
  const cursor = WITH_LIST.has(page.name) ? cursorIn(query) : ''
  return { ...page, cursor, q: page.name === 'search' ? searchTextIn(query) : '' }
}

function isPublic(page: Page): page is Extract<Page, Pick<PublicPage, 'name'>> {
  return PUBLIC.has(page.name)
}

function hasCode(error: unknown, code: AppError['code']): boolean {
  return error instanceof AppError && error.code === code
}
