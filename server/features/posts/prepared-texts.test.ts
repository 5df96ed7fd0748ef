import { readFile } from 'node:fs/promises'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { atOnce } from '../../testing/at-once.ts'
import { captureStatements } from '../../testing/plans.ts'
import { seedLikes, seedWall } from '../../testing/seed.ts'
import { appForFile, testPerNode } from '../../testing/test-app.ts'

/** Enough to use every combination of list, limit and place many times. */
const READS = 3000
const GROWTH_MAX_BYTES = 30 * 1024 * 1024
/** Each of five lists is read from its top, by a cursor, or at a page counted from either end. */
const TEXTS_MAX = 5 * 5

const app = await appForFile()
const olga = await app.signUp()
await seedWall(app.db, olga.id, 4000)
await seedLikes(app.db, olga.id)

/**
 * The n-th of a sequence of list reads that mixes every list with every limit, pages near and far,
 * and cursors.
 */
function mixedRead(n: number): { path: string; token: string | undefined } {
  const lists = ['/posts?', `/posts?userId=${olga.id}&`, '/posts/1/replies?']
  const own = ['/posts?filter=liked&', '/posts/replies?']
  const isOwn = n % 4 === 3
  const list = isOwn ? own[(n >> 2) % own.length] : lists[n % lists.length]
  const limit = 1 + (n % 50)
  const places = [
    '',
    `&page=${1 + (n % 7)}`,
    `&cursor=${1 + (n % 4400)}`,
    `&page=${1 + (n % 4400)}`,
  ]
  const place = places[Math.floor(n / 7) % places.length]
  return { path: `${list}limit=${limit}${place}`, token: isOwn ? olga.token : undefined }
}

async function read(n: number): Promise<void> {
  const { path, token } = mixedRead(n)
  // Without the test client, because it checks each response against the OpenAPI document, which
  // takes long for so many.
  const answer = await fetch(`${app.url}/api/v1${path}`, {
    headers: { ...(token && { authorization: `Bearer ${token}` }) },
  })
  await answer.arrayBuffer()
  expect(answer.status).toBe(200)
}

/**
 * Bytes of memory that the app's backends do not share, without shared buffers: the private ones of
 * proc(5).
 */
async function privateBytes(): Promise<number> {
  const { rows } = await sql<{ pid: number }>`SELECT pid FROM pg_stat_activity
    WHERE datname = current_database()`.execute(app.db)
  const sizes = await Promise.all(
    rows.map(async ({ pid }) => {
      const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8')
      return Number(/^Private_Dirty: +(\d+) kB/m.exec(rollup)?.[1]) * 1024
    }),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

// The memory of processes is read from /proc.
const testOnLinux =
  process.platform === 'linux' ? testPerNode('memory for the connections of one node') : test.skip

testOnLinux(
  'PostgreSQL holds less than 30 MB more after 3,000 reads with mixed limits, pages and cursors',
  async () => {
    // Every connection is open before, and has prepared its few texts.
    const sent = await captureStatements(() =>
      atOnce(Array.from({ length: 2000 }, (_, n) => () => read(n))),
    )
    const texts = new Set(sent.map(({ text }) => text).filter((text) => /\bposts\b/.test(text)))
    expect(texts.size).toBeLessThanOrEqual(TEXTS_MAX)
    const before = await privateBytes()
    await atOnce(Array.from({ length: READS }, (_, n) => () => read(n)))
    expect((await privateBytes()) - before).toBeLessThan(GROWTH_MAX_BYTES)
  },
  120_000,
)
