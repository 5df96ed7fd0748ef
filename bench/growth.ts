import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { openDatabase } from '../server/kernel/db/database.ts'
import { signInUsers } from './access-tokens.ts'
import { collectGarbage, inspectedAt } from './collect-garbage.ts'
import { dataSetOf } from './data-set.ts'
import { applyLoad } from './load.ts'
import { startFilledProduct } from './measured-product.ts'
import { openLoop } from './open-loop.ts'
import { printMarkdown } from './table.ts'

const READS_PER_SECOND = 30
const LIKES_PER_SECOND = 3
const PUBLICATIONS_PER_SECOND = 1
const USERS = 20
const SAMPLE_MS = 10_000
/** Caches, plans and shared buffers fill in the first part of the time, which is left out. */
const WARM_UP_SHARE = 0.25
const STORM_SECONDS = 15
const REST_SECONDS = [10, 60]

type Memory = { server: number; database: number }
type MemoryOf = (pid: number) => Memory
/** `inUse` counts objects and buffers; `server` also what their allocators keep. */
type Sample = Memory & { hours: number; inUse: number; tables: Map<string, number> }

/**
 * Measures whether memory or tables grow under a mixed load that leaves nothing behind: reads,
 * likes that are taken back, posts that are edited and deleted. Then measures the memory that stays
 * after a storm of reads. Collects garbage before each sample, because it fills heaps for hours.
 */
export async function measureGrowth(
  minutes: number,
  { posts, port, memoryOf }: { posts: number; port: number; memoryOf: MemoryOf },
): Promise<void> {
  const prepare = async (databaseUrl: string) => ({
    databaseUrl,
    tokens: await signInUsers(databaseUrl, USERS),
  })
  const [dataSet, inspector] = [dataSetOf(posts), port + 1]
  const env = inspectedAt(inspector)
  await using started = await startFilledProduct({ dataSet, port, env, prepare })
  const { url, pid = 0 } = started.product
  const { databaseUrl, tokens } = started.prepared
  const { db, close } = openDatabase(databaseUrl, () => {}, { connections: 1 })
  const tableSizes = async () => {
    const { rows } = await sql<{ name: string; mib: number }>`SELECT oid::regclass::text AS name,
      pg_total_relation_size(oid) / 1048576.0 AS mib FROM pg_class WHERE relkind = 'r'`.execute(db)
    return new Map(rows.map(({ name, mib }) => [name, Number(mib)]))
  }

  const began = performance.now()
  const samples: Sample[] = []
  const load = startMixedLoad(url, tokens, posts)
  while (performance.now() - began < minutes * 60_000) {
    await delay(SAMPLE_MS)
    const hours = (performance.now() - began) / 3_600_000
    const inUse = await collectGarbage(inspector)
    samples.push({ hours, inUse, ...memoryOf(pid), tables: await tableSizes() })
  }
  const answered = await load.stop()
  printSlopes(samples)
  console.log(`\n${answered}`)

  const lines: [string, ReturnType<MemoryOf>][] = [['before the storm', memoryOf(pid)]]
  await applyLoad({ url, seconds: STORM_SECONDS, request: pageRequest(posts) })
  const line = (when: string) => lines.push([when, memoryOf(pid)])
  line(`after ${STORM_SECONDS} s of it`)
  for (const seconds of REST_SECONDS) {
    await delay(seconds * 1000)
    line(`and ${seconds} s more of rest`)
  }
  await close()
  printMarkdown([
    ['a storm of pages, MiB', 'server', 'its PostgreSQL'],
    ...lines.map(([when, { server, database }]) => [when, server.toFixed(0), database.toFixed(0)]),
  ])
}

/** Requests pages of random posts, most of which are not cached. */
function pageRequest(posts: number) {
  return () => ({ method: 'GET' as const, path: `/posts/${1 + Math.floor(Math.random() * posts)}` })
}

function startMixedLoad(url: string, tokens: string[], posts: number) {
  const anyone = () => `Bearer ${tokens[Math.floor(Math.random() * tokens.length)]}`
  const anyPost = () => 1 + Math.floor(Math.random() * posts)
  const refusals = new Map<number, number>()
  const ask = async (method: string, path: string, authorization?: string, text?: string) => {
    const answer = await fetch(url + path, {
      method,
      headers: {
        ...(authorization && { authorization }),
        ...(text && { 'content-type': 'application/json', 'idempotency-key': randomUUID() }),
      },
      ...(text && { body: JSON.stringify({ text }) }),
    })
    if (!answer.ok) refusals.set(answer.status, (refusals.get(answer.status) ?? 0) + 1)
    return { isServed: answer.ok, body: await answer.text() }
  }

  async function read(): Promise<boolean> {
    const paths = ['/api/v1/posts', `/api/v1/posts/${anyPost()}`, '/', `/posts/${anyPost()}`]
    const path = paths[Math.floor(Math.random() * paths.length)] as string
    const isSignedIn = path.startsWith('/api') && Math.random() < 0.5
    return (await ask('GET', path, isSignedIn ? anyone() : undefined)).isServed
  }

  async function likeAndUnlike(): Promise<boolean> {
    const [who, path] = [anyone(), `/api/v1/posts/${anyPost()}/likes`]
    const liked = await ask('POST', path, who)
    return (await ask('DELETE', path, who)).isServed && liked.isServed
  }

  async function publishEditDelete(): Promise<boolean> {
    const who = anyone()
    const { isServed, body } = await ask('POST', '/api/v1/posts', who, 'Скоро этого не станет.')
    if (!isServed) return false
    const path = `/api/v1/posts/${JSON.parse(body).id}`
    const edited = await ask('PATCH', path, who, 'Скоро и этого не станет.')
    return (await ask('DELETE', path, who)).isServed && edited.isServed
  }

  const loops = [
    openLoop(READS_PER_SECOND, read),
    openLoop(LIKES_PER_SECOND, likeAndUnlike),
    openLoop(PUBLICATIONS_PER_SECOND, publishEditDelete),
  ]
  return {
    async stop(): Promise<string> {
      const results = await Promise.all(loops.map((loop) => loop.stop()))
      const told = results.map(
        (one) => `${one.perSecond.toFixed(1)} a second, ${one.failed} failed`,
      )
      const statuses = [...refusals].map(([status, times]) => `${times} times ${status}`).join(', ')
      return `reads: ${told[0]}; likes taken back: ${told[1]}; posts edited and deleted: ${told[2]}; ${statuses || 'no call refused'}`
    },
  }
}

function printSlopes(samples: Sample[]): void {
  const counted = samples.slice(Math.floor(samples.length * WARM_UP_SHARE))
  const names = [...(samples.at(-1)?.tables.keys() ?? [])]
  const sizeIn = ({ tables }: Sample) =>
    names.reduce((sum, name) => sum + (tables.get(name) ?? 0), 0)
  const grown = names
    .map((name): [string, (sample: Sample) => number] => [
      name,
      ({ tables }) => tables.get(name) ?? 0,
    ])
    .filter(([, figure]) => slopeOf(counted, figure).slope > 0)
  printMarkdown([
    [`MiB, from ${counted.length} samples`, 'first', 'last', 'slope an hour', 'standard error'],
    ...[
      ['the server', ({ server }: Sample) => server] as const,
      ['its objects and buffers', ({ inUse }: Sample) => inUse] as const,
      ['its PostgreSQL', ({ database }: Sample) => database] as const,
      ['all tables', sizeIn] as const,
      ...grown,
    ].map(([name, figure]) => {
      const { slope, error } = slopeOf(counted, figure)
      const ends = [counted.at(0), counted.at(-1)].map((one) => (one ? figure(one).toFixed(1) : ''))
      return [name, ...ends, slope.toFixed(1), `± ${error.toFixed(1)}`]
    }),
  ])
}

/** Least squares over the hours. The error assumes independent samples, unlike those of memory. */
function slopeOf(samples: Sample[], figure: (sample: Sample) => number) {
  const mean = (values: number[]) => values.reduce((sum, one) => sum + one, 0) / values.length
  const [hours, figures] = [samples.map((one) => one.hours), samples.map(figure)]
  const [middle, average] = [mean(hours), mean(figures)]
  const spread = hours.reduce((sum, hour) => sum + (hour - middle) ** 2, 0)
  const slope =
    hours.reduce((sum, hour, n) => sum + (hour - middle) * ((figures[n] ?? 0) - average), 0) /
    spread
  const rest = hours.reduce(
    (sum, hour, n) => sum + ((figures[n] ?? 0) - average - slope * (hour - middle)) ** 2,
    0,
  )
  return { slope, error: Math.sqrt(rest / (samples.length - 2) / spread) }
}
