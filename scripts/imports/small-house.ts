import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { checkImports } from '../check-imports.ts'

export type Files = Record<string, string>

/** A small house in which every arrow points the right way. */
export const HOUSE: Files = {
  'contract/constants.ts': 'export const PAGE_SIZE = 10',
  'contract/posts.ts': `import { Type } from 'typebox'\nexport const post = Type.String()\nexport type Post = string`,
  'server/main.ts': `import { app } from './app.ts'\napp()`,
  'server/app.ts': `import { postRoutes } from './posts/posts.routes.ts'\nexport const app = postRoutes`,
  'server/db/database.ts': `import { Pool } from 'pg'\nexport const open = () => new Pool()`,
  'server/http/route.ts': `import { post } from '../../contract/posts.ts'\nexport const route = () => post`,
  'server/posts/posts.service.ts': `import { publish } from './publish.ts'\nexport const views = publish`,
  'server/posts/publish.service.ts': `import { postViews } from './post-views.store.ts'\nexport const publish = postViews`,
  'server/posts/hydrate-posts.ts': `import { open } from '../db/open.ts'\nexport const postViews = open`,
  'server/posts/posts.repository.ts': `import { open } from '../db/open.ts'\nexport const add = open`,
  'server/posts/posts.routes.ts': `import { route } from '../http/route.ts'\nimport { add } from './posts.store.ts'\nexport const postRoutes = () => [route, add]`,
  'server/likes/likes.routes.ts': `import { views } from '../posts/posts.ts'\nexport const likeRoutes = views`,
  'web/main.tsx': `import { App } from './app/app.tsx'\nexport const start = App`,
  'web/app/app.tsx': `import { Feed } from '../feed/post-feed.tsx'\nexport const App = () => <Feed />`,
  'web/feed/post-feed.tsx': `import { Like } from '../likes/like-button.tsx'\nexport const Feed = () => <Like />`,
  'web/likes/like-button.tsx': `import { Card } from '../posts/post-card.tsx'\nexport const Like = () => <Card />`,
  'web/posts/view/post-card.tsx': `import type { Post } from '../../contract/posts.ts'\nimport { PAGE_SIZE } from '../../contract/constants.ts'\nimport { Button } from '../ui/button.tsx'\nexport const Card = (post: Post) => <Button>{post}{PAGE_SIZE}</Button>`,
  'web/ui/button.tsx': `import styles from './button.module.css'\nimport { clamp } from '../lib/clamp.ts'\nexport const Button = () => <b className={styles.b}>{clamp(1)}</b>`,
  'web/ui/button.module.css': '.b {}',
  'web/lib/clamp.ts': 'export const clamp = (n: number) => Math.max(0, n)',
  'web/api/call.ts': `export const call = () => fetch('/')`,
}

/** The folder of the test at hand. */
export let root = ''
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'imports-'))
})
afterEach(() => rmSync(root, { recursive: true }))

/** Writes files into the folder of the test at hand. */
export function build(files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
}

/** Adds the culprits to the house and gives what is said of it, as `rule path`. */
export function verdictOn(culprits: Files): string[] {
  build({ ...HOUSE, ...culprits })
  return checkImports(root).violations.map(({ rule, where }) => `${rule} ${where.split(':')[0]}`)
}

/** A file that imports `x` from `path`. */
export const from = (path: string) => `import { x } from '${path}'\nexport const y = x`
