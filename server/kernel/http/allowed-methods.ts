import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Returns the methods of the routes at a URL, and OPTIONS; none if there is no route. A path
     * that is a route's own, such as `/posts/search`, does not count as a value of `/posts/:id`.
     */
    methodsAt: (url: string) => string[]
  }
}

export function collectAllowedMethods(app: FastifyInstance): void {
  const routes = new Map<string, { matcher: RegExp; methods: Set<string> }>()

  app.addHook('onRoute', ({ url, method }) => {
    const create = () => ({ matcher: routeMatcher(url), methods: new Set<string>() })
    const { methods } = routes.getOrInsertComputed(url, create)
    for (const name of [method].flat()) methods.add(name)
  })

  app.decorate('methodsAt', (url) => {
    const path = decodeURIComponent(url.split('?', 1)[0] ?? '')
    const own = routes.get(path)
    const matching = own ? [own] : [...routes.values()].filter(({ matcher }) => matcher.test(path))
    const all = new Set(matching.flatMap(({ methods }) => [...methods]))
    return all.size > 0 ? [...all, 'OPTIONS'] : []
  })
}

/** Returns a pattern of a route's paths. A parameter matches any one segment. */
function routeMatcher(routeUrl: string): RegExp {
  const parts = routeUrl.split(/:\w+(?:\([^)]*\))?/).map((part) => RegExp.escape(part))
  return new RegExp(`^${parts.join('[^/]+')}$`)
}
