import { randomUUID } from 'node:crypto'
import type { Request } from 'autocannon'
import type { DataSet } from './data-set.ts'
import { applyLoad, middleOf } from './load.ts'
import { type OpenLoop, openLoop, post } from './open-loop.ts'
import { goalCell, printMarkdown } from './table.ts'

export type Beside = { seconds: number; rounds: number; only: string; tokens: string[] }
type Product = { url: string; cpu: () => number }
type Kind = { name: string; request: Request }

const LIKES_PER_SECOND = 200
const POSTS_PER_SECOND = 50
/** The likes go to this many of the newest posts, some of which the wall's first page shows. */
const LIKED_POSTS = 1000
const GOAL = 0.6

/**
 * Measures in turn how many reads are served without and beside likes and posts. The writes come at
 * a steady rate, whether earlier ones are answered or not. Exits 1 under the goal.
 */
export async function measureBesideWrites(
  { url, cpu }: Product,
  { seconds, rounds, only, dataSet, tokens }: Beside & { dataSet: DataSet },
): Promise<void> {
  const rows: string[][] = []
  for (const { name, request } of readsBeside(tokens).filter((kind) => kind.name.includes(only))) {
    const turns: { share: number; cells: string[] }[] = []
    for (let round = 0; round < rounds; round++) {
      const start = cpu()
      const alone = await applyLoad({ url, seconds, request })
      const aloneCpu = cpu() - start
      const likes = openLoop(LIKES_PER_SECOND, (agent) =>
        post(agent, url, newLike(dataSet, tokens)),
      )
      const posts = openLoop(POSTS_PER_SECOND, (agent) => post(agent, url, newPost(tokens)))
      const beside = await applyLoad({ url, seconds, request })
      const written = await Promise.all([likes.stop(), posts.stop()])
      const besideCpu = cpu() - start - aloneCpu
      const share = beside.rps / alone.rps
      const cpus = [aloneCpu / alone.requests, besideCpu / beside.requests]
      const figures = [alone.rps, beside.rps, alone.p99, beside.p99, ...cpus]
      turns.push({
        share,
        cells: [...figures.map((figure) => figure.toFixed(0)), ...written.flatMap(writtenCells)],
      })
    }
    const { share, cells } = middleOf(turns, (turn) => turn.share)
    rows.push([name, share.toFixed(2), goalCell(share, '≥', GOAL), ...cells])
  }
  printMarkdown([HEAD, ...rows])
}

const HEAD = [
  `beside ${LIKES_PER_SECOND} likes and ${POSTS_PER_SECOND} posts a second`,
  'share',
  'goal',
  'reads/s alone',
  'reads/s beside',
  'p99 alone, ms',
  'p99 beside, ms',
  'CPU a read alone, µs',
  'beside, writes included',
  'likes/s',
  'their p99, ms',
  'posts/s',
  'their p99, ms',
]

/** The reads that are measured beside something else; the last user makes the signed-in ones. */
export function readsBeside(tokens: string[]): Kind[] {
  const wall = { method: 'GET', path: '/api/v1/posts?limit=10' } as const
  const page = { method: 'GET', path: '/', headers: { 'accept-encoding': 'br' } } as const
  const authorization = `Bearer ${tokens.at(-1)}`
  return [
    { name: 'wall, visitor', request: wall },
    { name: 'wall page, visitor', request: page },
    { name: 'wall, signed in', request: { ...wall, headers: { authorization } } },
  ]
}

export function newLike({ posts }: DataSet, tokens: string[]) {
  const post = posts - Math.floor(Math.random() * LIKED_POSTS)
  return { path: `/posts/${post}/likes`, headers: withTokenOf(tokens) }
}

function newPost(tokens: string[]) {
  return {
    path: '/posts',
    headers: {
      ...withTokenOf(tokens),
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    },
    body: JSON.stringify({ text: 'Пока одни пишут, другие читают.' }),
  }
}

function withTokenOf(tokens: string[]) {
  // The last user only reads, because reads bypass the cache soon after a write.
  return { authorization: `Bearer ${tokens[Math.floor(Math.random() * (tokens.length - 1))]}` }
}

function writtenCells({ perSecond, p99, failed }: Awaited<ReturnType<OpenLoop['stop']>>): string[] {
  return [`${perSecond.toFixed(0)}${failed > 0 ? `, ${failed} failed` : ''}`, p99.toFixed(0)]
}
