import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, mkdtempDisposable, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs, promisify } from 'node:util'
import { makeRelease } from '../scripts/release/release.ts'
import { executeOn } from '../server/testing/database/databases.ts'
import { childrenOf, parentOf } from '../server/testing/process/processes.ts'
import { dataSetOf } from './data-set.ts'
import { applyLoad, type Call } from './load.ts'
import { startFilledProduct } from './measured-product.ts'
import { oneOf, requestOf, signedIn, WALL } from './scenarios.ts'
import { printMarkdown } from './table.ts'

/**
 * Measures memory, idle and busy, and the disk space of an install, a release and a wall. With
 * `--posts N` only a wall of that size. DATABASE_URL may name an empty database to fill.
 */
const ROOT = join(import.meta.dirname, '..')
const BUSY_SECONDS = 10
const IDLE_MS = 60_000
const run = promisify(execFile)

const { posts } = parseArgs({ options: { posts: { type: 'string' } } }).values
if (posts === undefined) await printSizes()
await printMemory(Number(posts ?? 10_000))

async function printSizes(): Promise<void> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'vslukh-footprint-'))
  const archive = await makeRelease(folder.path)
  const unpacked = await mkdtemp(join(folder.path, 'unpacked-'))
  const lock = readFileSync(join(ROOT, 'node_modules/.package-lock.json'), 'utf8')
  const installed = Object.entries<{ dev?: true }>(JSON.parse(lock).packages)
  const production = installed.filter(([, { dev }]) => !dev).map(([path]) => path)
  await run('tar', ['-xzf', archive, '-C', unpacked])
  printMarkdown([
    ['on disk', 'MiB'],
    ['`npm ci`', await diskUse(['node_modules'])],
    ['`npm ci --omit=dev`', await diskUse(production)],
    ['a release, unpacked', await diskUse([unpacked])],
    ['its archive', Math.round((await stat(archive)).size / 1024 ** 2)],
  ])
}

/** Returns MiB. */
async function diskUse(folders: string[]): Promise<number> {
  const { stdout } = await run('du', ['-ckd0', ...folders], { cwd: ROOT, maxBuffer: 1e8 })
  return Math.round(Number(/(\d+)\t.*\n$/.exec(stdout)?.[1]) / 1024)
}

async function printMemory(posts: number): Promise<void> {
  await using started = await startFilledProduct(dataSetOf(posts))
  const { tokens, databaseUrl } = started
  const { pid = 0, url } = started.product
  const [facts] = await executeOn<{ backend: number; bytes: string; buffers: string }>(
    databaseUrl,
    `SELECT pg_backend_pid() AS backend, pg_database_size(current_database()) AS bytes,
       current_setting('shared_buffers') AS buffers`,
  )
  if (!facts) throw new Error('The database has not answered')
  const postmaster = parentOf(facts.backend)
  const measure = () => {
    const database = [postmaster, ...childrenOf(postmaster)].map(memoryOf)
    return [memoryOf(pid), database.reduce((sum, memory) => sum + memory)].map(Math.round)
  }
  const after = measure()
  await delay(IDLE_MS)
  const idle = measure()
  const read = () => signedIn(anyRead(posts), oneOf(tokens))
  await applyLoad({ url, seconds: BUSY_SECONDS, requests: read })
  printMarkdown([
    [`memory with ${posts} posts, MiB`, 'server', `PostgreSQL, shared_buffers ${facts.buffers}`],
    ['after the start', ...after],
    ['after a minute without a request', ...idle],
    [`after ${BUSY_SECONDS} s of reads without pause`, ...measure()],
    ['its database on disk', '', Math.round(Number(facts.bytes) / 1024 ** 2)],
  ])
}

/** Returns a read of the wall, or of any post or its replies. */
function anyRead(posts: number): Call {
  const path = `/posts/${Math.ceil(Math.random() * posts)}`
  return oneOf([WALL, requestOf('GET', path), requestOf('GET', `${path}/replies?limit=10`)])
}

/** Returns MiB, with a share of what several processes use (Pss in proc(5)). */
function memoryOf(pid: number): number {
  const path = `/proc/${pid}/smaps_rollup`
  const rollup = existsSync(path) ? readFileSync(path, 'utf8') : ''
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024
}
