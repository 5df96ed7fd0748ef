import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { printMarkdown } from './table.ts'

/** Computes what daily readers need, from docs/performance.md and the habits below. */
const DAILY_READERS = [1_000, 100_000, 10_000_000]

/** Guesses, to be replaced by the metrics of a wall. */
const HABITS = {
  visitsADay: 2,
  /** After the page that a visit begins with. */
  readsAVisit: 8,
  signedIn: 0.2,
  /** Visitors' calls that no node has cached. */
  visitorMisses: 0.2,
  postsADay: 0.05,
  likesADay: 0.5,
  /** How much more happens in the busiest minute than on average. */
  peak: 5,
  /** The share of visits without cached app files; bytes of these files, and of other answers. */
  firstVisits: 0.3,
  firstVisitBytes: 183_000,
  answerBytes: 4000,
}
/** A core may be busy half of the time, so that waits stay short and machines can be lost. */
const BUSY = 0.5
/** Disk for each byte of rows, with free space and the log of changes. */
const DISK_FACTOR = 2
const NODE_GIB = 0.5
/** The memory of PostgreSQL besides its buffers, for connections and the system. */
const DATABASE_GIB = 1
/** The rows of this many days should fit into memory, because most reads are of the newest. */
const DAYS_IN_MEMORY = 30
/** For a wall that must not lose data with a machine. */
const STANDBYS = 2
/** PostgreSQL's CPU time for a signed-in read of any post (µs), measured on 2026-11-21. */
const DATABASE_READ = 174
/** Up to this many daily readers can wait while the only machine is repaired. */
const ONE_MACHINE = 10_000

const DAY_SECONDS = 86_400
const YEAR_DAYS = 365
const GIB = 1024 ** 3

/** Reads what bench/sizes.ts printed. */
function rowBytes(): { post: number; like: number } {
  const found = /a post takes (\d+) bytes and a like (\d+)\./.exec(readPage('performance.md'))
  if (!found) throw new Error('docs/performance.md does not say how large a post and a like are')
  return { post: Number(found[1]), like: Number(found[2]) }
}

function readPage(page: string): string {
  return readFileSync(join(import.meta.dirname, '../docs', page), 'utf8')
}

type Cell = (row: string, column: string) => number

/** Returns a function that finds a cell: of the first row of a name in a table with the column. */
function tablesOf(page: string): Cell {
  const tables = readPage(page)
    .split(/\n(?!\|)/)
    .map((table) =>
      table
        .split('\n')
        .filter((line) => line.startsWith('|'))
        .map((line) =>
          line
            .split('|')
            .slice(1, -1)
            .map((cell) => cell.trim()),
        ),
    )
  return (row, column) => {
    for (const [head = [], ...rows] of tables) {
      const at = head.indexOf(column)
      const found = rows.find(([name]) => name === row)?.[at]
      if (at > 0 && found) return Number(found)
    }
    throw new Error(`docs/${page} has no table with a row “${row}” and a column “${column}”`)
  }
}

type Costs = ReturnType<typeof readCosts>

/** CPU time (µs) of a node for each kind of request, and of the database. Bytes of rows. */
function readCosts() {
  const measured = tablesOf('performance.md')
  const cpu = (row: string) => measured(row, 'CPU, µs')
  // The bare loop keeps the database's core busy, so that a write takes the inverse of its rate.
  const bare = (row: string) => 1e6 / measured(row, 'limit/s')
  return {
    node: {
      page: cpu('wall page, visitor'),
      cached: cpu('wall, visitor'),
      missed: measured('any post, visitor', 'before, µs'),
      // Each publication invalidates the cache, so these reads count as uncached.
      signedIn: measured('any post, signed in', 'before, µs'),
      post: cpu('publish'),
      like: cpu('like a hot post'),
    },
    database: {
      post: bare('publish'),
      like: bare('like a hot post'),
    },
    bytesOf: rowBytes(),
  }
}

function needsOf(readers: number, { node, database, bytesOf }: Costs): string[] {
  const aSecond = (aDay: number) => (readers * aDay * HABITS.peak) / DAY_SECONDS
  const visits = aSecond(HABITS.visitsADay)
  const reads = visits * HABITS.readsAVisit
  const [signedIn, visitors] = [reads * HABITS.signedIn, reads * (1 - HABITS.signedIn)]
  const missed = visitors * HABITS.visitorMisses
  const [posts, likes] = [aSecond(HABITS.postsADay), aSecond(HABITS.likesADay)]
  const cores = (micros: number) => micros / 1e6 / BUSY

  const nodeCores = cores(
    visits * node.page +
      (visitors - missed) * node.cached +
      missed * node.missed +
      signedIn * node.signedIn +
      posts * node.post +
      likes * node.like,
  )
  const writing = posts * database.post + likes * database.like
  const queries = signedIn + missed
  const isSpare = readers > ONE_MACHINE
  const nodes = Math.ceil(nodeCores) + (isSpare ? 1 : 0)
  const primaryCores = cores(queries * DATABASE_READ + writing)
  const bytesADay = readers * (HABITS.postsADay * bytesOf.post + HABITS.likesADay * bytesOf.like)
  const disk = (bytesADay * YEAR_DAYS * DISK_FACTOR) / GIB
  const memory = DATABASE_GIB + (bytesADay * DAYS_IN_MEMORY) / GIB
  const bytes =
    visits * HABITS.firstVisits * HABITS.firstVisitBytes + (visits + reads) * HABITS.answerBytes
  return [
    rounded(visits + reads),
    rounded(posts + likes),
    rounded(nodeCores),
    String(nodes),
    rounded(nodes * NODE_GIB),
    rounded(primaryCores),
    rounded(memory),
    rounded(disk),
    String(isSpare ? STANDBYS : 0),
    rounded((bytes * 8) / 1e6),
  ]
}

const HEADS = [
  'reads a second at the peak',
  'posts and likes a second at the peak',
  'cores for nodes',
  'nodes, of one core each',
  'memory of the nodes, GiB',
  'the primary’s cores',
  'memory of each database, GiB',
  'disk of each database after a year, GiB',
  'standbys',
  'network at the peak, Mbit/s',
]

function rounded(value: number): string {
  return value >= 10 ? value.toFixed(0) : String(Number(value.toPrecision(2)))
}

const costs = readCosts()
const columns = DAILY_READERS.map((readers) => needsOf(readers, costs))
printMarkdown([
  ['Daily readers', ...DAILY_READERS.map((readers) => readers.toLocaleString('en'))],
  ...HEADS.map((head, n) => [head, ...columns.map((column) => column[n] ?? '')]),
])
