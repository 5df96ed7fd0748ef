import helmet from '@fastify/helmet'
import type { FastifyInstance } from 'fastify'

type Options = {
  isHttps: boolean
  /** CSP source expressions, such as `'sha256-…'`, of the page's inline scripts. */
  inlineScriptHashes: string[]
}

const YEAR_SECONDS = 31_536_000

/** Sets the security headers of every answer. Answers of the API are not to be stored unless their route says so. */
export async function setHeaders(
  app: FastifyInstance,
  { isHttps, inlineScriptHashes }: Options,
): Promise<void> {
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'self'"],
        scriptSrc: ["'self'", ...inlineScriptHashes],
        styleSrc: ["'self'"],
        imgSrc: ["'self'", 'data:'],
        objectSrc: ["'none'"],
        baseUri: ["'none'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
        ...(isHttps && { upgradeInsecureRequests: [] }),
      },
    },
    referrerPolicy: { policy: 'strict-origin-when-cross-origin' },
    crossOriginOpenerPolicy: { policy: 'same-origin' },
    frameguard: { action: 'deny' },
    hsts: isHttps ? { maxAge: YEAR_SECONDS, includeSubDomains: false } : false,
  })
  app.addHook('onSend', async (request, reply) => {
    if (request.url.startsWith('/api/') && !reply.hasHeader('cache-control')) {
      reply.header('cache-control', 'no-store')
    }
  })
}
