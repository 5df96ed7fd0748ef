import { newDevice } from './device.ts'
import type { World } from './world.ts'

export const SCRAPER = '5.99.1.1'
const CALLS = [
  '/posts',
  '/posts?page=2',
  '/posts?page=5',
  '/posts?page=40&limit=50',
  '/posts/search?q=%D1%87',
]
const PAGES = ['/', '/feed.atom', '/feed.json', '/sitemap.xml', '/robots.txt']

/** Reads page after page. A ban of its network closes everything to it, and its end opens it again. */
export async function scrape(world: World): Promise<void> {
  const { wall, model, clock, findings } = world
  const device = newDevice(0, SCRAPER)
  const isBanned = model.bans.some(({ value, until }) => value === SCRAPER && until > clock.now())
  const statuses: number[] = []
  for (const path of CALLS) {
    statuses.push((await world.call(undefined, device, 'scrape', ['GET', path])).status)
  }
  for (const path of PAGES) {
    const headers = { 'x-forwarded-for': SCRAPER }
    const answer = await fetch(wall.url + path, { headers }).catch(() => undefined)
    await answer?.arrayBuffer().catch(() => {})
    world.count('page', answer?.status ?? 0)
    if (path !== '/robots.txt') statuses.push(answer?.status ?? 0)
  }
  const refused = statuses.filter((status) => status === 403).length
  if (isBanned && statuses.includes(200)) findings.add('a banned network reads', { statuses })
  if (!isBanned && refused > 0) findings.add('a network without a ban is refused', { statuses })
}
