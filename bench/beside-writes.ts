import { randomUUID } from 'node:crypto'
import type { Request } from 'autocannon'
import type { DataSet } from './data-set.ts'
import { applyLoad, middleOf } from './load.ts'
import { openLoop, post } from './open-loop.ts'
import { goalCell, printMarkdown } from './table.ts'

type Beside = { seconds: number; rounds: number; only: string; dataSet: DataSet; tokens: string[] }

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
  { url }: { url: string },
  { seconds, rounds, only, dataSet, tokens }: Beside,
): Promise<void> {
  const rows: string[][] = []
  for (const [name, request] of Object.entries(readsOf(tokens))) {
    if (!name.includes(only)) continue
    const turns: { share: number; figures: number[] }[] = []
    for (let round = 0; round < rounds; round++) {
      const alone = await applyLoad({ url, seconds, request })
      const likes = openLoop(LIKES_PER_SECOND, (agent) =>
        post(agent, url, newLike(dataSet, tokens)),
      )
      const posts = openLoop(POSTS_PER_SECOND, (agent) => post(agent, url, newPost(tokens)))
      const beside = await applyLoad({ url, seconds, request })
      const [liked, posted] = await Promise.all([likes.stop(), posts.stop()])
      const speeds = [alone.rps, beside.rps, alone.p99, beside.p99, liked.p99, posted.p99]
      const figures = [...speeds, liked.failed + posted.failed]
      turns.push({ share: beside.rps / alone.rps, figures })
    }
    const { share, figures } = middleOf(turns, (turn) => turn.share)
    const cells = figures.map((figure) => figure.toFixed(0))
    rows.push([name, share.toFixed(2), goalCell(share, '≥', GOAL), ...cells])
  }
  printMarkdown([HEAD, ...rows])
}

const HEAD = [
  `beside ${LIKES_PER_SECOND} likes and ${POSTS_PER_SECOND} posts a second`,
  'share',
  'goal',
  'reads/s alone',
  'beside',
  'p99 alone, ms',
  'beside',
  'of likes',
  'of posts',
  'failed writes',
]

/** The last user makes the signed-in reads. */
function readsOf(tokens: string[]): Record<string, Request> {
  const wall = { method: 'GET', path: '/api/v1/posts?limit=10' } as const
  return {
    'wall, visitor': wall,
    'wall page, visitor': { method: 'GET', path: '/', headers: { 'accept-encoding': 'br' } },
    'wall, signed in': { ...wall, headers: { authorization: `Bearer ${tokens.at(-1)}` } },
  }
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
