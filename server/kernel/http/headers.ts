import type { ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import helmet from 'helmet'

type Options = {
  isHttps: boolean
  /** Whether people reach the site by http, where browsers ignore some headers and log it. */
  isPlainHttp: boolean
  hstsSubdomains: boolean
  /** CSP source expressions of the pages' inline scripts and style sheets, such as `'sha256-…'`. */
  inlineHashes: { scripts: string[]; styles: string[] }
}

const YEAR_SECONDS = 31_536_000

/** Responses of the API must not be stored unless their route allows it. */
export function setHeaders(app: FastifyInstance, headers: Record<string, string>): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(headers)
    // By the route, since a URL can be spelt in many ways.
    if (request.routeOptions.url?.startsWith('/api/')) reply.header('cache-control', 'no-store')
    done()
  })
}

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
