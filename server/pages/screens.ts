import { PATHS } from '../../contract/pages.ts'

/** What the web app shows at an address: the wall, a post, a page of one person's own. */
export type Screen = { name: 'wall' } | { name: 'post'; id: string } | { name: 'own' }

const POST = new RegExp(`^${PATHS.post.replace(':id', '([^/]+)')}$`)
const ALL = new Set<string>(Object.values(PATHS))

/** The screen at a path; null where the web app has none and says so, which is then a 404. */
export function screenAt(path: string): Screen | null {
  if (path === PATHS.wall) return { name: 'wall' }
  const id = POST.exec(path)?.[1]
  if (id !== undefined) return { name: 'post', id }
  return ALL.has(path) ? { name: 'own' } : null
}
