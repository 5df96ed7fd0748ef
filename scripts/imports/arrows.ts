/** The arrows of the design as data: a zone may import from the zones in its row, nothing else. */

const SERVER_GROUND = ['server/db', 'server/config', 'contract']
const SERVER_BASE = ['server/http', 'server/error', 'server/mail', ...SERVER_GROUND]
const FEATURE = ['own door', 'own store', 'own job', 'own inner', 'other door', ...SERVER_BASE]
const ANY_FEATURE = ['any routes', 'any door', 'any store', 'any job', 'any inner']
const EVERY_SERVER_ZONE = [
  'server/main',
  'server/app',
  'server/features',
  ...SERVER_BASE,
  ...ANY_FEATURE,
]
const WEB_BASE = ['web/ui', 'web/lib', 'contract']
const WEB_ACTIONS = ['web/likes', 'web/replies', 'web/reports']
const WEB_ACCOUNTS = ['web/sign-in', 'web/sessions', 'web/account']
const WEB_SCREENS = ['web/feed', ...WEB_ACTIONS, 'web/posts', ...WEB_ACCOUNTS, ...WEB_BASE]
const EVERY_WEB_ZONE = ['web/main', 'web/app', 'web/pages', ...WEB_SCREENS]

type Arrows = Readonly<Record<string, readonly string[]>>

export const ARROWS: Arrows = {
  contract: ['contract'],
  'contract test': ['contract', 'contract test'],

  'server/main': ['server/app', ...SERVER_BASE],
  'server/app': ['server/app', 'any routes', 'any door', 'any job', ...SERVER_BASE],
  'server/features': [],
  'server/config': ['server/config', 'contract'],
  'server/error': ['contract'],
  'server/http': ['server/http', 'server/error', ...SERVER_GROUND],
  'server/mail': ['server/mail', ...SERVER_GROUND],
  'server/db': SERVER_GROUND,
  routes: FEATURE,
  door: FEATURE.filter((zone) => zone !== 'own door'),
  job: FEATURE,
  inner: FEATURE,
  store: ['own store', 'own inner', 'server/error', ...SERVER_GROUND],
  'server test': ['server test', ...EVERY_SERVER_ZONE],

  'web/main': ['web/main', 'web/app', ...WEB_BASE],
  'web/app': ['web/app', 'web/pages', ...WEB_SCREENS],
  'web/pages': ['web/pages', ...WEB_SCREENS],
  'web/feed': ['web/feed', ...WEB_ACTIONS, 'web/posts', ...WEB_BASE],
  'web/likes': ['web/likes', 'web/posts', ...WEB_BASE],
  'web/replies': ['web/replies', 'web/posts', ...WEB_BASE],
  'web/reports': ['web/reports', 'web/posts', ...WEB_BASE],
  'web/posts': ['web/posts', ...WEB_BASE],
  'web/sign-in': ['web/sign-in', ...WEB_BASE],
  'web/sessions': ['web/sessions', ...WEB_BASE],
  'web/account': ['web/account', ...WEB_BASE],
  'web/ui': WEB_BASE,
  'web/lib': ['web/lib', 'contract'],
  'web test': ['web test', ...EVERY_WEB_ZONE],

  tool: ['tool', 'contract', ...EVERY_SERVER_ZONE, 'server test', ...EVERY_WEB_ZONE],
}

/** What a zone may know the types of, besides; none of it is loaded. */
export const TYPE_ARROWS: Arrows = {
  // What app hands to the routes is described once, in server/features.ts.
  'server/features': ['any door', ...SERVER_BASE],
  routes: ['server/features'],
  // A store runs nothing but SQL, yet may take what its callers have: a viewer, another's list.
  store: ['other door', 'server/http'],
}

/** Files that only the named ones may import; tests may too. */
export const PRIVATE_FILES: Readonly<Record<string, readonly string[]>> = {
  'server/posts/hydrate-posts.ts': [
    'server/posts/post-lists.repository.ts',
    'server/posts/posts.routes.ts',
    'server/posts/posts.repository.ts',
    'server/posts/publish.service.ts',
  ],
}

type PackageRule = {
  zones: RegExp
  packages: RegExp
  verdict: 'only' | 'never'
  typesToo: boolean
  why: string
}

/** Which packages and node: modules a zone may load. */
export const PACKAGE_RULES: readonly PackageRule[] = [
  {
    zones: /^contract$/,
    packages: /^typebox(?:\/|$)/,
    verdict: 'only',
    typesToo: false,
    why: 'the contract does no I/O and knows no package but typebox',
  },
  {
    zones: /^contract$/,
    packages: /^node:/,
    verdict: 'never',
    typesToo: true,
    why: 'the contract runs in the browser too',
  },
  {
    zones: /^web\//,
    packages: /^(?:node:|typebox(?:\/|$)|@?fastify|kysely|pg$|graphile-worker|nodemailer)/,
    verdict: 'never',
    typesToo: false,
    why: 'no schema library and nothing of the server reaches the browser',
  },
  {
    zones: /^(?:server|routes|door|store|job|inner)/,
    packages: /^(?:react|@tanstack\/|ky$|lucide-react)/,
    verdict: 'never',
    typesToo: false,
    why: 'nothing of the web runs on the server',
  },
]

/** Names under which unrelated things gather. */
export const DRAWER_NAMES = new Set(['utils', 'util', 'helpers', 'helper', 'misc', 'common'])
