import type { ServerResponse } from 'node:http'
import type { FastifyRequest } from 'fastify'
import helmet from 'helmet'
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

/** Runs helmet once, since its headers never differ. */
export function securityHeaders({
  isHttps,
  isPlainHttp,
  hstsSubdomains,
  inlineHashes,
}: Options): Record<string, string> {
  const headers: Record<string, string> = {}
  const setAll = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'self'"],
        scriptSrc: ["'self'", ...inlineHashes.scripts],
        styleSrc: ["'self'", ...inlineHashes.styles],
        imgSrc: ["'self'", 'data:'],
        objectSrc: ["'none'"],
        baseUri: ["'none'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
        ...(isHttps && { upgradeInsecureRequests: [] }),
      },
    },
    referrerPolicy: { policy: 'strict-origin-when-cross-origin' },
    crossOriginOpenerPolicy: isPlainHttp ? false : { policy: 'same-origin' },
    // Old browsers alone know these, and every page would carry them: `frame-ancestors` is newer.
    frameguard: false,
    originAgentCluster: false,
    dnsPrefetchControl: false,
    ieNoOpen: false,
    permittedCrossDomainPolicies: false,
    xXssProtection: false,
    strictTransportSecurity: isHttps
      ? { maxAge: YEAR_SECONDS, includeSubDomains: hstsSubdomains }
      : false,
  })
  const collector = {
    setHeader: (name: string, value: string) => {
      headers[name.toLowerCase()] = value
    },
    removeHeader() {},
  }
  setAll({} as never, collector as unknown as ServerResponse, (error) => {
    if (error) throw error
  })
  return headers
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
