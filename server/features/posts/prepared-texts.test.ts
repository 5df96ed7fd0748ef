import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { seedLikes, seedWall } from '../../testing/database/seed.ts'
import { atOnce } from '../../testing/http/at-once.ts'
import { appForFile, testPerNode } from '../../testing/test-app.ts'

/** Enough to use every combination of list, limit and place many times. */
const READS = 3000
const GROWTH_MAX_BYTES = 30 * 1024 * 1024

const app = await appForFile()
const olga = await app.signUp()
await seedWall(app.db, olga.id, 4000)
await seedLikes(app.db, olga.id)

/** The n-th of a sequence of reads that mixes lists, limits, pages near and far, and cursors. */
async function read(n: number): Promise<void> {
  const lists = ['/posts?', `/posts?userId=${olga.id}&`, '/posts/1/replies?']
  const own = ['/posts?filter=liked&', '/posts/replies?']
  const isOwn = n % 4 === 3
  const list = isOwn ? own[(n >> 2) % own.length] : lists[n % lists.length]
  const far = 1 + (n % 4400)
  const places = ['', `&page=${1 + (n % 7)}`, `&cursor=${far}`, `&page=${far}`]
  const path = `${list}limit=${1 + (n % 50)}${places[Math.floor(n / 7) % places.length]}`
  // Without the test client, because it checks each response against the OpenAPI document, which
  // takes long for so many.
  const answer = await fetch(`${app.url}/api/v1${path}`, {
    headers: { ...(isOwn && { authorization: `Bearer ${olga.token}` }) },
  })
  await answer.arrayBuffer()
  expect(answer.status).toBe(200)
}

const readMany = (count: number) => atOnce(Array.from({ length: count }, (_, n) => () => read(n)))

/**
 * Bytes of memory that the app's backends do not share, without shared buffers: the private ones of
 * proc(5).
 */
async function privateBytes(): Promise<number> {
  const rows = await app.sql<{ pid: number }>`SELECT pid FROM pg_stat_activity
    WHERE datname = current_database()`
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
    await readMany(2000)
    const before = await privateBytes()
    await readMany(READS)
    expect((await privateBytes()) - before).toBeLessThan(GROWTH_MAX_BYTES)
  },
  120_000,
)
