import { parseArgs } from 'node:util'
import { executeOn } from '../server/testing/databases.ts'
import { signInUsers } from './access-tokens.ts'
import { dataSetOf, rareWord } from './data-set.ts'
import { median, quantile, timesOf } from './load.ts'
import { startFilledProduct } from './measured-product.ts'
import { goalCell, printMarkdown } from './table.ts'

/**
 * Measures how long one reader waits, on a small wall and on a large one. Exits 1 over its goal.
 */
const { values } = parseArgs({
  options: {
    small: { type: 'string', default: '1000' },
    posts: { type: 'string', default: '1000000' },
    reads: { type: 'string', default: '400' },
  },
})
/** Words of most posts, of few and of none, several, phrases, beginnings, and words to leave out. */
const SEARCHES = [
  ...'стена слышит говорят друга снег окно тихо долго старый отвечает идёт'.split(' '),
  ...[0, 1, 17, 400, 8000, 49_999].map(rareWord),
  'кракозябра',
  ...['стен', 'отве', 'сне', rareWord(0).slice(0, 4)],
  ...['стена снег', 'друг окно снег', `стена ${rareWord(400)}`, `${rareWord(0)} ${rareWord(1)}`],
  ...['"слышит друг"', '"стена старый"', `стена -${rareWord(0)}`, `${rareWord(17)} -снег`],
]
const PORT = 3212
/** The two walls are read in turn, this many times, because the machine's speed varies. */
const TURNS = 5
const GROWTH_MAX = 1.3
const SEARCH_P99_MAX_MS = 60

type Times = Record<string, number>

await using smallWall = await openWall(Number(values.small), PORT)
await using largeWall = await openWall(Number(values.posts), PORT + 1)
for (let turn = 0; turn < TURNS; turn++) {
  for (const { readAll } of [smallWall, largeWall]) await readAll(turn)
}
const small = smallWall.medians()
const large = largeWall.medians()
const lines = Object.entries(small).map(([name, before]) => {
  const after = large[name] ?? Number.NaN
  const growth = after / before
  const goal = goalCell(growth, '≤', GROWTH_MAX)
  return [name, before.toFixed(2), after.toFixed(2), growth.toFixed(2), goal]
})
const head = ['one read, ms', `${values.small} posts`, `${values.posts} posts`, 'growth', 'goal']
printMarkdown([head, ...lines])
const searches = await largeWall.search()
console.log('')
printMarkdown([
  [`slowest of ${SEARCHES.length} searches, ms`, 'median', 'p99', 'goal'],
  ...searches
    .slice(0, 5)
    .map(({ q, middle, p99 }) => [
      q,
      middle.toFixed(1),
      p99.toFixed(1),
      goalCell(p99, '≤', SEARCH_P99_MAX_MS),
    ]),
])
const bytes = largeWall.rowBytes
console.log(`\nWith its indices a post takes ${bytes?.post} bytes and a like ${bytes?.like}.`)

/** One reader reads every URL once, so that each read queries the database. */
async function openWall(posts: number, port: number) {
  console.log(`${posts} posts; filling…`)
  const prepare = async (url: string) => ({
    tokens: await signInUsers(url, 1),
    rowBytes: await measureRows(url),
  })
  const started = await startFilledProduct({ dataSet: dataSetOf(posts), port, prepare })
  const { product, prepared } = started
  const headers = { authorization: `Bearer ${prepared.tokens[0]}` }
  const times: Record<string, number[]> = {}
  const reads = Math.ceil(Number(values.reads) / TURNS)

  return {
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

    /** Returns the searches with their p99, the slowest first. */
    async search() {
      const found: { q: string; middle: number; p99: number }[] = []
      for (const q of SEARCHES) {
        const url = `${product.url}/api/v1/posts/search?q=${encodeURIComponent(q)}`
        // The server refuses a search that is too broad.
        const refused = () => [Number.POSITIVE_INFINITY]
        const taken = await timesOf(Array(reads).fill(url), headers).catch(refused)
        const sorted = taken.toSorted((a, b) => a - b)
        found.push({ q, middle: median(taken), p99: quantile(sorted, 0.99) })
      }
      return found.toSorted((a, b) => b.p99 - a.p99)
    },

    rowBytes: prepared.rowBytes,

    [Symbol.asyncDispose]: () => started[Symbol.asyncDispose](),
  }
}

/** Returns the bytes on disk of a post and a like: rows, long texts, and all indices. */
async function measureRows(url: string) {
  const [bytes] = await executeOn<{ post: number; like: number }>(
    url,
    `SELECT (pg_total_relation_size('posts') / (SELECT count(*) FROM posts))::int AS post,
       (pg_total_relation_size('likes') / (SELECT count(*) FROM likes))::int AS "like"`,
  )
  return bytes
}

/** `n` changes a parameter without meaning, or the position, but not how much is read. */
function readsOf(posts: number): Record<string, (n: number) => string> {
  const id = (n: number) => 1 + ((n * 7919) % (posts - 1))
  const wallPages = Math.ceil((posts * 3) / 4 / 10)
  const unique = (n: number) => `limit=10${'&'.repeat(n + 1)}`
  return {
    'wall, first page': (n) => `/posts?page=1&${unique(n)}`,
    'wall, last page': (n) => `/posts?page=${wallPages}&${unique(n)}`,
    'wall, by cursor': (n) => `/posts?limit=10&cursor=${id(n) + 50}`,
    'an owner’s posts': (n) => `/posts?userId=${1 + (n % 20)}&${unique(n)}`,
    'what one liked': (n) => `/posts?filter=liked&${unique(n)}`,
    'own replies': (n) => `/posts/replies?${unique(n)}`,
    'a post': (n) => `/posts/${id(n)}?${'&'.repeat(n + 1)}`,
    'replies to a post': (n) => `/posts/${id(n)}/replies?${unique(n)}`,
  }
}
