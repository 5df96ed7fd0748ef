import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { brotliDecompressSync } from 'node:zlib'
import { executeOn } from '../server/testing/database/databases.ts'
import type { DataSet } from './data-set.ts'
import { type Answer, quantile, send } from './load.ts'
import type { MeasuredProduct, Run } from './measured-product.ts'
import { openLoop } from './open-loop.ts'
import { newLike, requestOf, signedIn } from './scenarios.ts'
import { goalCell, printMarkdown } from './table.ts'

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

/** Publishes what scrapers read, and what is timed. Their ids follow those of the data set. */
export async function fillThreads(
  databaseUrl: string,
  { posts }: DataSet,
  seconds: number,
): Promise<void> {
  const threads = PAGES_PER_SECOND * seconds + TIMED
  await executeOn(
    databaseUrl,
    `INSERT INTO posts (owner_id, text, created_at)
     SELECT 1 + n % 10, '${MARK} ' || n, now() - interval '1 hour' FROM generate_series(1, ${threads + TIMED}) n`,
  )
  await executeOn(
    databaseUrl,
    `INSERT INTO posts (owner_id, text, created_at, replied_post_id, parent_post_id)
     SELECT 1 + reply, 'Ответ, в котором несколько слов, как это и бывает', now(), id, id
     FROM posts, generate_series(1, ${REPLIES}) reply
     WHERE text LIKE '${MARK} %' AND id <= ${posts + threads}`,
  )
}

/** Measures how people are served while scrapers read, each from an address of its own. */
export async function measureScraped(run: Run) {
  const { product, seconds, dataSet, tokens } = run
  const { url } = product
  const threads = PAGES_PER_SECOND * seconds
  const firstThread = dataSet.posts + 1
  const replies = await timePages(product, firstThread + threads)
  const lone = await timePages(product, firstThread + threads + TIMED)
  await readBeside({ ...run, seconds: 3 })
  const alone = await readBeside(run)
  const rssBefore = product.rss()
  product.forgetPeak()
  const answers: Answer[] = []
  let turn = 0
  const scrapers = openLoop(PAGES_PER_SECOND, async (agent) => {
    // If a slow server prolongs the round, the first threads repeat, long after they were cached.
    const answer = await readPage(url, agent, firstThread + (turn++ % threads))
    answers.push(answer)
    return answer
  })
  const likes = openLoop(LIKES_PER_SECOND, (agent) => send(url, newLike(dataSet, tokens), agent))
  const beside = await readBeside(run)
  const [scraped, liked] = await Promise.all([scrapers.stop(), likes.stop()])
  const { 200: pages = [], 503: busy = [] } = Object.groupBy(answers, ({ status }) => status)
  const figures: [name: string, figure: number, sign: '≥' | '≤', goal: number][] = [
    ['people’s share of reads', beside.perSecond / alone.perSecond, '≥', GOALS.share],
    ['their p99, ms', beside.p99, '≤', GOALS.p99],
    ['reads that failed', beside.failed, '≤', 0],
    ['likes’ p99, ms', liked.p99, '≤', GOALS.likesP99],
    ['likes that failed', liked.failed, '≤', 0],
    ['more memory, MiB', product.peakRss() - rssBefore, '≤', GOALS.memory],
    ['pages with 200 without the text', pages.filter((it) => !isWhole(it)).length, '≤', 0],
    ['other answers', scraped.sent - pages.length - busy.length, '≤', 0],
    [`main thread, ms a page with ${REPLIES} replies`, replies, '≤', TIMED_GOALS.replies],
    ['main thread, ms a page without', lone, '≤', TIMED_GOALS.lone],
  ]
  printMarkdown([
    [`${PAGES_PER_SECOND} pages a second`, '', 'goal'],
    ...figures.map(([name, figure, sign, goal]) => {
      return [name, Number(figure.toPrecision(3)), goalCell(figure, sign, goal)]
    }),
  ])
  console.log(
    `${alone.perSecond.toFixed(0)} reads a second alone, with a p99 of ${alone.p99.toFixed(0)} ms; ${pages.length} of ${scraped.sent} pages were served.`,
  )
}

async function timePages({ url, mainCpu }: MeasuredProduct, first: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  const half = TIMED / 2
  const readHalf = (from: number) =>
    Promise.all(Array.from({ length: half }, (_, n) => readPage(url, agent, from + n)))
  await readHalf(first)
  const before = mainCpu()
  await readHalf(first + half)
  agent.destroy()
  return (mainCpu() - before) / half
}

/** Each reader asks for the wall and for posts by turns; half of them are signed in. */
async function readBeside({ product: { url }, tokens, seconds, dataSet }: Run) {
  const agent = new Agent({ keepAlive: true })
  const end = performance.now() + seconds * 1000
  const times: number[] = []
  let failed = 0

  async function live(person: number): Promise<void> {
    const headers = { 'x-forwarded-for': `10.1.${person}.1` }
    const token = person % 2 === 0 ? tokens[person] : undefined
    await delay(Math.random() * PAUSE_MS)
    for (let turn = 0; performance.now() < end; turn++) {
      const id = 1 + Math.floor(Math.random() * dataSet.posts)
      const call = requestOf('GET', turn % 2 === 0 ? '/posts?limit=10' : `/posts/${id}`, headers)
      const began = performance.now()
      const { status } = await send(url, token ? signedIn(call, token) : call, agent)
      times.push(performance.now() - began)
      if (status !== 200) failed++
      await delay(PAUSE_MS)
    }
  }

  await Promise.all(Array.from({ length: READERS }, (_, person) => live(person)))
  agent.destroy()
  return { perSecond: (times.length - failed) / seconds, p99: quantile(times, 0.99), failed }
}

function readPage(url: string, agent: Agent, id: number): Promise<Answer> {
  const part = () => Math.floor(Math.random() * 256)
  const address = `${11 + (part() % 100)}.${part()}.${part()}.${part()}`
  const headers = { 'x-forwarded-for': address, 'accept-encoding': 'br' }
  return send(url, { method: 'GET', path: `/posts/${id}`, headers }, agent)
}

/** Whether head and body contain the post's text, not only the data for scripts. */
function isWhole({ body: page }: Answer): boolean {
  const html = brotliDecompressSync(page).toString()
  const [head = '', body = ''] = html.replaceAll(/<script.*?<\/script>/gs, '').split('</head>')
  return head.includes(`${MARK} `) && body.includes(`${MARK} `)
}
