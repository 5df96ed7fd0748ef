import type { FastifyRequest } from 'fastify'
import type { Config } from '../config/config.ts'
import { AppError } from '../errors/app-error.ts'

const YEAR_SECONDS = 31_536_000

/** Returns the headers of every response. `inlineHashes` are CSP sources such as `'sha256-…'`. */
export function securityHeaders(
  { publicUrl = '', hstsSubdomains }: Pick<Config, 'publicUrl' | 'hstsSubdomains'>,
  inlineHashes: { scripts: string[]; styles: string[] } = { scripts: [], styles: [] },
): Record<string, string> {
  const isHttps = publicUrl.startsWith('https:')
  const policy = [
    "default-src 'self'",
    ["script-src 'self'", ...inlineHashes.scripts].join(' '),
    ["style-src 'self'", ...inlineHashes.styles].join(' '),
    "img-src 'self' data:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    ...(isHttps ? ['upgrade-insecure-requests'] : []),
  ]
  const hsts = `max-age=${YEAR_SECONDS}${hstsSubdomains ? '; includeSubDomains' : ''}`
  return {
    'content-security-policy': policy.join(';'),
    // On plain http, browsers ignore this header and log an error.
    ...(isHttps && { 'cross-origin-opener-policy': 'same-origin' }),
    'cross-origin-resource-policy': 'same-origin',
    // The address of a page may contain a search or a token, and proxies may log the Referer.
    'referrer-policy': 'strict-origin',
    ...(isHttps && { 'strict-transport-security': hsts }),
    'x-content-type-options': 'nosniff',
  }
}

/**
 * Throws FORBIDDEN for a page of another origin, such as the IP address of a wall that has a name.
 * Clients that send no origin pass.
 */
export function requireOwnOrigin(request: FastifyRequest, publicUrl: string | undefined): void {
  const { origin } = request.headers
  const own = ownOriginOf(request, publicUrl)
  const isOwn = origin === undefined ? isOwnSite(request.headers['sec-fetch-site']) : origin === own
  if (isOwn) return
  const message = own && `Войти можно только по адресу ${own}. Откройте эту страницу там`
  throw new AppError('FORBIDDEN', { message })
}

/** Returns the origin of PUBLIC_URL; if that is unset, of the address that the request names. */
export function ownOriginOf(request: FastifyRequest, publicUrl: string | undefined) {
  return publicUrl ?? URL.parse(`${request.protocol}://${request.host}`)?.origin
}

/** Reads Sec-Fetch-Site (https://www.w3.org/TR/fetch-metadata); `none`: the user typed the URL. */
function isOwnSite(site: string | string[] | undefined): boolean {
  return site === undefined || site === 'same-origin' || site === 'none'
}
