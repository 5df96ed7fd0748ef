import type { FastifyRequest } from 'fastify'
import { AppError } from '../errors/app-error.ts'

type Options = {
  isHttps: boolean
  /** Whether people reach the site by http, where browsers ignore some headers and log it. */
  isPlainHttp: boolean
  hstsSubdomains: boolean
  /** CSP source expressions of the pages' inline scripts and style sheets, such as `'sha256-…'`. */
  inlineHashes: { scripts: string[]; styles: string[] }
}

const YEAR_SECONDS = 31_536_000

/** Returns the headers of every response, by which browsers keep other sites out. */
export function securityHeaders({
  isHttps,
  isPlainHttp,
  hstsSubdomains,
  inlineHashes,
}: Options): Record<string, string> {
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
    ...(!isPlainHttp && { 'cross-origin-opener-policy': 'same-origin' }),
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'strict-origin-when-cross-origin',
    ...(isHttps && { 'strict-transport-security': hsts }),
    'x-content-type-options': 'nosniff',
  }
}

/**
 * Throws FORBIDDEN for another origin's page: it could use a visitor's cookie, or sign them in as
 * somebody else. Clients other than browsers send no origin, and pass.
 */
export function requireOwnOrigin(request: FastifyRequest, publicUrl: string | undefined): void {
  const { origin } = request.headers
  const isOwn =
    origin === undefined
      ? isOwnSite(request.headers['sec-fetch-site'])
      : origin === (publicUrl ?? URL.parse(`${request.protocol}://${request.host}`)?.origin)
  if (!isOwn) throw new AppError('FORBIDDEN')
}

/** See https://www.w3.org/TR/fetch-metadata; `none` is an address that the person entered. */
function isOwnSite(site: string | string[] | undefined): boolean {
  return site === undefined || site === 'same-origin' || site === 'none'
}
