import { expect, test } from 'vitest'
import { from, verdictOn } from './small-house.ts'

/** [what is wrong, the file with it, its text] */
const WRONG_ARROWS: [string, string, string][] = [
  ['the contract knows the server', 'contract/a.ts', from('../server/app.ts')],
  ['the web knows the server', 'web/lib/a.ts', from('../../server/db/open.ts')],
  [
    'the web knows a type of the server',
    'web/lib/a.ts',
    `import type { x } from '../../server/app.ts'\nexport type Y = x`,
  ],
  ['the server knows the web', 'server/http/a.ts', from('../../web/lib/clamp.ts')],
  ['a server test knows the web', 'server/posts/a.test.ts', from('../../web/lib/clamp.ts')],
  ['main goes past app', 'server/main.ts', from('./posts/posts.routes.ts')],
  ['app reaches into a store', 'server/app.ts', from('./posts/posts.store.ts')],
  ['http knows a feature', 'server/http/a.ts', from('../posts/posts.ts')],
  ['db knows a feature', 'server/db/a.ts', from('../posts/posts.ts')],
  ['mail knows a feature', 'server/mail/a.ts', from('../posts/posts.ts')],
  ['db knows http', 'server/db/a.ts', from('../http/route.ts')],
  ['a store knows http', 'server/posts/a.store.ts', from('../http/route.ts')],
  ['a store runs another feature', 'server/likes/likes.repository.ts', from('../posts/posts.ts')],
  ['a store knows its door', 'server/posts/a.store.ts', from('./posts.ts')],
  ['another feature’s store', 'server/likes/a.ts', from('../posts/posts.store.ts')],
  ['another feature’s routes', 'server/likes/a.ts', from('../posts/posts.routes.ts')],
  ['its own routes', 'server/posts/a.ts', from('./posts.routes.ts')],
  ['routes run what app hands them', 'server/likes/a.routes.ts', from('../features.ts')],
  [
    'a feature knows app',
    'server/likes/a.ts',
    `import type { x } from '../app.ts'\nexport type A = x`,
  ],
  ['app reaches inside a feature', 'server/app.ts', from('./posts/a.ts')],
  ['the server imports its tests’ tools', 'server/app.ts', from('./testing/a.ts')],
  ['posts know likes', 'web/posts/a.ts', from('../likes/like-button.tsx')],
  [
    'posts know the feed, later',
    'web/posts/a.ts',
    `export const a = () => import('../feed/post-feed.tsx')`,
  ],
  ['likes know replies', 'web/likes/a.ts', from('../replies/a.ts')],
  ['sign-in knows posts', 'web/sign-in/a.ts', from('../posts/post-card.tsx')],
  ['a page knows the app', 'web/pages/a.ts', from('../app/app.tsx')],
  ['ui knows a feature', 'web/ui/a.ts', from('../posts/post-card.tsx')],
  ['lib knows ui', 'web/lib/a.ts', from('../ui/button.tsx')],
  [
    'lib knows a feature’s type',
    'web/lib/a.ts',
    `export type A = import('../posts/post-card.tsx').Card`,
  ],
  [
    'lib passes a feature on',
    'web/lib/a.ts',
    `export { Card } from '../posts/post-card.tsx'\nexport const a = 1`,
  ],
]

test.each(WRONG_ARROWS)('arrow: %s', (_name, path, text) => {
  const targets = {
    'server/features.ts': 'export const x = 1',
    'server/posts/a.ts': 'export const x = 1',

    'server/testing/a.ts': 'export const x = 1',
    'web/replies/a.ts': 'export const x = 1',
  }
  expect(verdictOn({ ...targets, [path]: text })).toContain(`arrow ${path}`)
})

test('a type is enough: routes know what app hands them, stores know their callers', () => {
  const type = (path: string) => `import type { X } from '${path}'\nexport type A = X`
  const files = {
    'server/features.ts': type('./posts/posts.ts'),
    'server/likes/a.routes.ts': type('../features.ts'),
    'server/likes/likes.repository.ts': type('../posts/posts.ts'),
    'server/posts/a.store.ts': type('../http/route.ts'),
  }
  expect(verdictOn(files)).toEqual([])
})

test('tests and tools may import what they test', () => {
  const free = {
    'server/likes/likes.test.ts': from('../posts/posts.store.ts'),
    'server/testing/a.ts': from('../posts/post-views.store.ts'),
    'web/ui/button.test.tsx': from('../posts/post-card.tsx'),
    'e2e/a.test.ts': `${from('../server/posts/posts.store.ts')}\nimport '../web/lib/call.ts'`,
    'bench/a.ts': from('../server/app.ts'),
    'scripts/a.ts': from('../vite.config.ts'),
    'vite.config.ts': 'export const x = 1',
  }
  expect(verdictOn(free)).toEqual([])
})
