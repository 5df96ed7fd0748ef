import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * The methods of the routes at an address, OPTIONS among them; none where there is no route.
     */
    methodsAt: (url: string) => string[]
  }
}

/** Records the methods of the routes at each address, for requests with another method. */
export function noteAllowedMethods(app: FastifyInstance): void {
  const methods = new Map<string, Set<string>>()
  let matchers: [RegExp, Set<string>][] | undefined

  app.addHook('onRoute', ({ url, method }) => {
    const known = methods.get(url) ?? new Set()
    for (const name of [method].flat()) known.add(name)
    methods.set(url, known)
    matchers = undefined
  })

  app.decorate('methodsAt', (url) => {
    matchers ??= [...methods].map(([pattern, names]) => [matcherOf(pattern), names])
    // The router has refused what cannot be decoded.
    const path = decodeURIComponent(url.split('?', 1)[0] ?? '')
    const found = matchers.filter(([matcher]) => matcher.test(path))
    const all = new Set(found.flatMap(([, names]) => [...names]))
    return all.size > 0 ? [...all, 'OPTIONS'] : []
  })
}

/** A parameter, with its own pattern or without, is a part of the path. */
function matcherOf(pattern: string): RegExp {
  const parts = pattern.split(/:\w+(?:\([^)]*\))?/).map((part) => RegExp.escape(part))
  return new RegExp(`^${parts.join('[^/]+')}$`)
}
