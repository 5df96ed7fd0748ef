import { applyLoad, middleOf, type Requests, send } from './load.ts'
import type { Run } from './measured-product.ts'
import { openLoop } from './open-loop.ts'
import { newLike, newPost, signedIn, WALL, WALL_PAGE } from './scenarios.ts'
import { goalCell, printMarkdown } from './table.ts'

const LIKES_PER_SECOND = 200
const POSTS_PER_SECOND = 50
const GOAL = 0.6

/** Measures in turn how many reads are served without and beside likes and posts. */
export async function measureBesideWrites({ product: { url }, dataSet, tokens, ...run }: Run) {
  const { seconds, rounds, only } = run
  // The last user only reads, because reads bypass the cache soon after a write.
  const writers = tokens.slice(0, -1)
  const reads: Record<string, Requests> = {
    'wall, visitor': [[WALL]],
    'wall page, visitor': [[WALL_PAGE]],
    'wall, signed in': [[signedIn(WALL, tokens.at(-1) ?? '')]],
  }
  const rows: string[][] = []
  for (const [name, requests] of Object.entries(reads)) {
    if (!name.includes(only)) continue
    const turns: { share: number; figures: number[] }[] = []
    for (let round = 0; round < rounds; round++) {
      const alone = await applyLoad({ url, seconds, requests })
      const likes = openLoop(LIKES_PER_SECOND, (agent) =>
        send(url, newLike(dataSet, writers), agent),
      )
      const posts = openLoop(POSTS_PER_SECOND, (agent) => send(url, newPost(writers), agent))
      const beside = await applyLoad({ url, seconds, requests })
      const failed = (await likes.stop()).failed + (await posts.stop()).failed
      turns.push({ share: beside.rps / alone.rps, figures: [alone.p99, beside.p99, failed] })
    }
    const { share, figures } = middleOf(turns, (turn) => turn.share)
    rows.push([name, share.toFixed(2), goalCell(share, '≥', GOAL), ...figures.map(String)])
  }
  const writes = `beside ${LIKES_PER_SECOND} likes and ${POSTS_PER_SECOND} posts a second`
  printMarkdown([[writes, 'share', 'goal', 'p99 alone, ms', 'beside', 'failed writes'], ...rows])
}
