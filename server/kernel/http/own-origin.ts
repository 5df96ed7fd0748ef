import type { FastifyRequest } from 'fastify'
import { AppError } from '../errors/app-error.ts'

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
