import type { FastifyRequest } from 'fastify'
import { AppError } from './app-error.ts'

/**
 * Throws FORBIDDEN for a request that a browser sends for a page of another origin. For the calls that take or set the
 * session cookie: a foreign page could spend a visitor's cookie, or sign them in as somebody else. Our own origin is
 * `publicUrl`, or where that is unset, the scheme, host and port by which the request came. Clients that are no
 * browsers say nothing about a page, and pass.
 */
export function requireOwnOrigin(request: FastifyRequest, publicUrl: string | undefined): void {
  const { origin } = request.headers
  const isOwn =
    origin === undefined
      ? isOwnSite(request.headers['sec-fetch-site'])
      : origin === (publicUrl ?? URL.parse(`${request.protocol}://${request.host}`)?.origin)
  if (!isOwn) throw new AppError('FORBIDDEN')
}

/** By the browser's word (https://www.w3.org/TR/fetch-metadata); `none` is the person, who typed or picked an address. */
function isOwnSite(site: string | string[] | undefined): boolean {
  return site === undefined || site === 'same-origin' || site === 'none'
}
