import { LRUCache } from 'lru-cache'
import { PATHS, postPath, USER_PATHS } from '../../contract/pages.ts'
import { readIdRanges, readPostsInRange } from '../features/posts/id-ranges.ts'
import { CachedResponse } from '../kernel/cache/cached-response.ts'
import { originOf } from '../kernel/config/config.ts'
import type { Db } from '../kernel/db/database.ts'
import { AppError } from '../kernel/errors/app-error.ts'
import { PAGE_FILES, VISITOR_CALLS } from '../kernel/http/call-limits.ts'
import { escapeXml } from '../kernel/http/escape.ts'
import type { Http } from '../kernel/http/route.ts'
import type { PagesContext } from './web-app.ts'

/** The range of ids in one sitemap; the protocol allows 50,000 URLs. */
export const SITEMAP_IDS = 5000
/** The most sitemaps in the index: they cover the newest ten million ids. */
const SITEMAPS_MAX = 2000
const CACHE_SECONDS = 3600
/** Enough for the sitemaps of some 300,000 posts. */
const CACHED_BYTES_MAX = 32 * 1024 ** 2
const XMLNS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
/** Of a path such as `/own/posts` the first part, which stands for all that begin so. */
const OWN_PAGES = new Set(Object.values(USER_PATHS).map((path) => `/${path.split('/')[1]}`))
const ROBOTS = ['User-agent: *', ...Array.from(OWN_PAGES, (path) => `Disallow: ${path}`)]

const TEXT_TYPE = 'text/plain; charset=utf-8'

const SECURITY_PATH = '/.well-known/security.txt'
/** RFC 9116 asks for less than a year. */
const SECURITY_MS = 180 * 86_400_000

/** A sitemap of 5,000 posts takes as long as a page, so it must not starve API calls either. */
const LANE = { config: { lane: 'page' } } as const

type SitemapRequest = { Params: { number: string } }

/** Registers the sitemaps and their index, robots.txt, which names it, and security.txt. */
export async function registerSitemaps({
  http,
  db,
  config,
  headers,
  limits,
}: PagesContext): Promise<void> {
  const origin = originOf(config)
  const toResponse = (text: string, type: string) =>
    new CachedResponse({
      route: 'file',
      body: Buffer.from(text),
      type,
      headers,
      cacheControl: `public, max-age=${CACHE_SECONDS}`,
    })
  const responses = new LRUCache<'index' | number, CachedResponse>({
    maxSize: CACHED_BYTES_MAX,
    sizeCalculation: ({ identity }) => identity.body.length,
    ttl: CACHE_SECONDS * 1000,
    fetchMethod: async (key) => {
      const text = key === 'index' ? makeIndex(db, origin) : makeSitemap(db, origin, key)
      return toResponse(await text, 'application/xml; charset=utf-8')
    },
  })
  const send = async (key: 'index' | number, http: Http) =>
    (await responses.forceFetch(key)).send(http)

  await http.register(async (sitemaps) => {
    sitemaps.addHook('onRequest', ({ ip }) => limits.charge([{ limit: VISITOR_CALLS, ip }]))
    sitemaps.get('/sitemap.xml', LANE, (request, reply) => send('index', { request, reply }))
    sitemaps.get<SitemapRequest>('/sitemap/:number(^\\d{1,9}).xml', LANE, (request, reply) =>
      send(Number(request.params.number), { request, reply }),
    )
  })

  const asFile = {
    onRequest: ({ ip }: { ip: string }) => limits.charge([{ limit: PAGE_FILES, ip }]),
  }
  const robots = toResponse(robotsText(origin), TEXT_TYPE)
  http.get('/robots.txt', asFile, (request, reply) => robots.send({ request, reply }))
  const { contactEmail } = config
  if (contactEmail === undefined) return
  http.get(SECURITY_PATH, asFile, (request, reply) =>
    toResponse(securityText(contactEmail, origin), TEXT_TYPE).send({ request, reply }),
  )
}

/** Returns robots.txt, which names the sitemap. */
export function robotsText(origin: string): string {
  return [...ROBOTS, '', `Sitemap: ${origin}/sitemap.xml`, ''].join('\n')
}

/** Returns security.txt (RFC 9116), which says where to report a vulnerability. */
function securityText(contact: string, origin: string): string {
  // On whole days, so that the text keeps its ETag for a day.
  const expires = new Date(new Date().setUTCHours(0, 0, 0, 0) + SECURITY_MS)
  return [
    `Contact: mailto:${contact.split('@').map(encodeURIComponent).join('@')}`,
    `Expires: ${expires.toISOString()}`,
    'Preferred-Languages: ru, en',
    `Canonical: ${origin}${SECURITY_PATH}`,
    '',
  ].join('\n')
}

export async function makeIndex(db: Db, origin: string): Promise<string> {
  const ranges = await readIdRanges(db, { size: SITEMAP_IDS, count: SITEMAPS_MAX })
  const sitemaps = ranges.map(({ number, newest }) => sitemapEntry(origin, number, newest))
  // The first sitemap also contains the wall, so the index lists it even without posts.
  if (ranges[0]?.number !== 0) sitemaps.unshift(sitemapEntry(origin, 0, null))
  return xml('sitemapindex', sitemaps)
}

function sitemapEntry(origin: string, number: number, newest: Date | null): string {
  const loc = escapeXml(`${origin}/sitemap/${number}.xml`)
  return `<sitemap><loc>${loc}</loc>${lastmod(newest)}</sitemap>`
}

function lastmod(date: Date | null): string {
  return date ? `<lastmod>${date.toISOString()}</lastmod>` : ''
}

/** Returns the sitemap of a range of ids. Throws NOT_FOUND if it would be empty. */
export async function makeSitemap(db: Db, origin: string, number: number): Promise<string> {
  const posts = await readPostsInRange(db, { size: SITEMAP_IDS, number })
  const post = `<url><loc>${escapeXml(origin + postPath(''))}`
  const urls = posts.map(({ id, changedAt }) => `${post}${id}</loc>${lastmod(changedAt)}</url>`)
  if (number === 0) urls.unshift(`<url><loc>${escapeXml(origin + PATHS.wall)}</loc></url>`)
  if (urls.length === 0) throw new AppError('NOT_FOUND')
  return xml('urlset', urls)
}

function xml(root: string, children: string[]): string {
  return `<?xml version="1.0" encoding="utf-8"?><${root} ${XMLNS}>${children.join('')}</${root}>`
}
