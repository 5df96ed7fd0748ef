import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { brotliDecompressSync } from 'node:zlib'
import { executeOn } from '../server/testing/databases.ts'
import { newLike } from './beside-writes.ts'
import type { DataSet } from './data-set.ts'
import { quantile } from './load.ts'
import { openLoop, post } from './open-loop.ts'
import { watchMemory } from './overload.ts'
import { goalCell, printMarkdown } from './table.ts'

type Scraped = { seconds: number; firstThread: number; dataSet: DataSet; tokens: string[] }
/** The pages are checked after the measurement. `others` counts answers that are neither 200 nor 503. */
type Pages = { bodies: Buffer[]; others: number }

/** Requests state their addresses as a proxy would, and the default limits apply. */
export const SCRAPED_ENV = { TRUST_PROXY: '127.0.0.1', RATE_LIMIT_SCALE: '1' }

const REPLIES = 15
/** For how many pages the main thread's time is measured, with replies and without. */
const TIMED = 400
const TIMED_GOALS = { replies: 2.5, lone: 1.5 }
const READERS = 200
/** A reader's pause between two reads: together they read a thousand times a second. */
const PAUSE_MS = 200
const LIKES_PER_SECOND = 20
const PAGES_PER_SECOND = 300
const GOALS = { share: 0.95, p99: 100, likesP99: 200, memory: 60 }
const MARK = 'Слово'

/**
 * Publishes the threads that scrapers read, each post once, and those whose time is measured.
 * Returns the id of the first.
 */
export async function fillThreads(databaseUrl: string, seconds: number): Promise<number> {
  const threads = PAGES_PER_SECOND * seconds
  const [first] = await executeOn(
    databaseUrl,
    `INSERT INTO posts (owner_id, text, created_at)
     SELECT 1 + n % 10, '${MARK} ' || n, now() - interval '1 hour' FROM generate_series(1, ${threads + 2 * TIMED}) n
     RETURNING id`,
  )
  const firstThread = Number(first?.id)
  await executeOn(
    databaseUrl,
    `INSERT INTO posts (owner_id, text, created_at, replied_post_id, parent_post_id)
     SELECT 1 + reply, 'Ответ, в котором несколько слов, как это и бывает', now(), id, id
     FROM posts, generate_series(1, ${REPLIES}) reply
     WHERE text LIKE '${MARK} %' AND id < ${firstThread + threads + TIMED}`,
  )
  return firstThread
}

/**
 * Measures how people are served while scrapers read one post after another, each from its own
 * address, and what the scrapers get. Exits 1 if a goal is missed.
 */
export async function measureScraped(
  product: { url: string; rss: () => number; mainCpu: () => number },
  { seconds, firstThread, dataSet, tokens }: Scraped,
): Promise<void> {
  const { url } = product
  const threads = PAGES_PER_SECOND * seconds
  const replies = await timePages(product, firstThread + threads)
  const lone = await timePages(product, firstThread + threads + TIMED)
  await readBeside(url, tokens, { ms: 3000, dataSet })
  const alone = await readBeside(url, tokens, { ms: seconds * 1000, dataSet })
  const rssBefore = product.rss()
  const stopWatching = watchMemory(product)
  const pages: Pages = { bodies: [], others: 0 }
  let turn = 0
  // If a slow server prolongs the round, the first threads repeat, long after they were cached.
  const nextId = () => firstThread + (turn++ % threads)
  const scrapers = openLoop(PAGES_PER_SECOND, (agent) =>
    readPage(agent, `${url}/posts/${nextId()}`, pages),
  )
  const likes = openLoop(LIKES_PER_SECOND, (agent) => post(agent, url, newLike(dataSet, tokens)))
  const beside = await readBeside(url, tokens, { ms: seconds * 1000, dataSet })
  const [, liked] = await Promise.all([scrapers.stop(), likes.stop()])
  const share = beside.perSecond / alone.perSecond
  const figures: [name: string, figure: number, sign: '≥' | '≤', goal: number][] = [
    ['people’s share of reads', share, '≥', GOALS.share],
    ['their p99, ms', beside.p99, '≤', GOALS.p99],
    ['reads that failed', beside.failed, '≤', 0],
    ['likes’ p99, ms', liked.p99, '≤', GOALS.likesP99],
    ['likes that failed', liked.failed, '≤', 0],
    ['more memory, MiB', stopWatching() - rssBefore, '≤', GOALS.memory],
    ['pages with 200 without the text', pages.bodies.filter((it) => !isWhole(it)).length, '≤', 0],
    ['other answers', pages.others, '≤', 0],
    [`main thread, ms a page with ${REPLIES} replies`, replies, '≤', TIMED_GOALS.replies],
    ['main thread, ms a page without', lone, '≤', TIMED_GOALS.lone],
  ]
  printMarkdown([
    [`${PAGES_PER_SECOND} pages a second`, '', 'goal'],
    ...figures.map(([name, figure, sign, goal]) => [
      name,
      Number(figure.toPrecision(3)),
      goalCell(figure, sign, goal),
    ]),
  ])
  console.log(
    `${alone.perSecond.toFixed(0)} reads a second alone, with a p99 of ${alone.p99.toFixed(0)} ms; ${pages.bodies.length} of ${turn} pages were served.`,
  )
}

/** Returns the main thread's milliseconds for an uncached page. */
async function timePages({ url, mainCpu }: { url: string; mainCpu: () => number }, first: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  const pages: Pages = { bodies: [], others: 0 }
  const read = (from: number, count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, n) => readPage(agent, `${url}/posts/${from + n}`, pages)),
    )
  await read(first, TIMED / 2)
  const before = mainCpu()
  await read(first + TIMED / 2, TIMED / 2)
  agent.destroy()
  return (mainCpu() - before) / (TIMED / 2)
}

/** Each of the readers asks for the wall and for posts by turns; half of them are signed in. */
async function readBeside(
  url: string,
  tokens: string[],
  { ms, dataSet }: { ms: number; dataSet: DataSet },
) {
  const agent = new Agent({ keepAlive: true })
  const end = performance.now() + ms
  const times: number[] = []
  let failed = 0

  async function live(person: number): Promise<void> {
    const authorization = `Bearer ${tokens[person % tokens.length]}`
    const headers = {
      'x-forwarded-for': `10.1.${person}.1`,
      ...(person % 2 === 0 && { authorization }),
    }
    await delay(Math.random() * PAUSE_MS)
    for (let turn = 0; performance.now() < end; turn++) {
      const id = 1 + Math.floor(Math.random() * dataSet.posts)
      const path = turn % 2 === 0 ? '/posts?limit=10' : `/posts/${id}`
      const began = performance.now()
      const { status } = await ask(agent, `${url}/api/v1${path}`, headers)
      times.push(performance.now() - began)
      if (status !== 200) failed++
      await delay(PAUSE_MS)
    }
  }

  await Promise.all(Array.from({ length: READERS }, (_, person) => live(person)))
  agent.destroy()
  times.sort((a, b) => a - b)
  return { perSecond: (times.length - failed) / (ms / 1000), p99: quantile(times, 0.99), failed }
}

async function readPage(agent: Agent, url: string, pages: Pages): Promise<boolean> {
  const part = () => Math.floor(Math.random() * 256)
  const headers = {
    'x-forwarded-for': `${11 + (part() % 100)}.${part()}.${part()}.${part()}`,
    'accept-encoding': 'br',
  }
  pages.others++
  const { status, body } = await ask(agent, url, headers)
  if (status === 200) pages.bodies.push(body)
  if (status === 200 || status === 503) pages.others--
  return status === 200
}

/** Whether head and body contain the post's text, not only the data for scripts. */
function isWhole(page: Buffer): boolean {
  const text = brotliDecompressSync(page)
    .toString()
    .replaceAll(/<script.*?<\/script>/gs, '')
  const [head = '', body = ''] = text.split('</head>')
  return head.includes(`${MARK} `) && body.includes(`${MARK} `)
}

async function ask(agent: Agent, url: string, headers: Record<string, string>) {
  const [response] = (await once(get(url, { agent, headers }), 'response')) as [IncomingMessage]
  return { status: response.statusCode, body: await buffer(response) }
}
