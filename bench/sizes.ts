import { parseArgs } from 'node:util'
import { signInUsers } from './access-tokens.ts'
import { dataSetOf } from './data-set.ts'
import { median, timesOf } from './load.ts'
import { startFilledProduct } from './measured-product.ts'

/** Measures how long one reader waits for each read, on a small wall and on a large one. Exits 1 where it grows past its goal. */
const { values } = parseArgs({
  options: {
    small: { type: 'string', default: '1000' },
    large: { type: 'string', default: '1000000' },
    reads: { type: 'string', default: '400' },
  },
})
const PORT = 3212
/** The two walls are read in so many turns, so that both have the same machine. */
const TURNS = 5
const GROWTH_MAX = 1.3
const LAST_PAGE_MAX = 5
const FIRST_PAGE = 'wall, first page'
const LAST_PAGE = 'wall, last page'

type Times = Record<string, number>

await using smallWall = await openWall(Number(values.small), PORT)
await using largeWall = await openWall(Number(values.large), PORT + 1)
for (let turn = 0; turn < TURNS; turn++) {
  for (const { readAll } of [smallWall, largeWall]) await readAll(turn)
}
const small = smallWall.medians()
const large = largeWall.medians()
console.log(`\n| one read, ms | ${values.small} posts | ${values.large} posts | growth | goal |`)
console.log('| --- | --- | --- | --- | --- |')
for (const [name, before = 0] of Object.entries(small)) {
  const after = large[name] ?? Number.NaN
  const growth = after / before
  const isPage = name === LAST_PAGE
  if (!isPage && growth > GROWTH_MAX) process.exitCode = 1
  const goal = isPage ? '' : `≤ ${GROWTH_MAX}`
  const cells = [name, before.toFixed(2), after.toFixed(2), growth.toFixed(2), goal]
  console.log(`| ${cells.join(' | ')} |`)
}
const depth = (large[LAST_PAGE] ?? 0) / (large[FIRST_PAGE] ?? 1)
console.log(`\nThe last page takes ${depth.toFixed(2)} × the first (goal ≤ ${LAST_PAGE_MAX}).`)
if (depth > LAST_PAGE_MAX) process.exitCode = 1

/** Starts a product with so many posts, of which one reader reads every URL once, so that each read queries the database. */
async function openWall(posts: number, port: number) {
  console.log(`${posts} posts; filling…`)
  const prepare = (url: string) => signInUsers(url, 1)
  const started = await startFilledProduct({ dataSet: dataSetOf(posts), port, prepare })
  const { product, prepared } = started
  const headers = { authorization: `Bearer ${prepared[0]}` }
  const times: Record<string, number[]> = {}
  const reads = Math.ceil(Number(values.reads) / TURNS)

  return {
    /** Reads each kind in turn. */
    async readAll(turn: number): Promise<void> {
      for (const [name, pathOf] of Object.entries(readsOf(posts))) {
        const urls = Array.from({ length: reads }, (_, n) => {
          return `${product.url}/api/v1${pathOf(turn * reads + n)}`
        })
        const taken = await timesOf(urls, headers)
        times[name] = [...(times[name] ?? []), ...taken]
      }
    },

    /** The median time of each kind in milliseconds. */
    medians: (): Times =>
      Object.fromEntries(Object.entries(times).map(([name, taken]) => [name, median(taken)])),

    [Symbol.asyncDispose]: () => started[Symbol.asyncDispose](),
  }
}

/** Paths that differ with `n` in a parameter without meaning, or in the place, but not in how much they read. */
function readsOf(posts: number): Record<string, (n: number) => string> {
  const id = (n: number) => 1 + ((n * 7919) % (posts - 1))
  const wallPages = Math.ceil((posts * 3) / 4 / 10)
  const unique = (n: number) => `limit=10${'&'.repeat(n + 1)}`
  return {
    [FIRST_PAGE]: (n) => `/posts?page=1&${unique(n)}`,
    [LAST_PAGE]: (n) => `/posts?page=${wallPages}&${unique(n)}`,
    'wall, by cursor': (n) => `/posts?limit=10&cursor=${id(n) + 50}`,
    'an owner’s posts': (n) => `/posts?userId=${1 + (n % 20)}&${unique(n)}`,
    'what one liked': (n) => `/posts?filter=liked&${unique(n)}`,
    'own replies': (n) => `/posts/replies?${unique(n)}`,
    'a post': (n) => `/posts/${id(n)}?${'&'.repeat(n + 1)}`,
    'replies to a post': (n) => `/posts/${id(n)}/replies?${unique(n)}`,
  }
}
