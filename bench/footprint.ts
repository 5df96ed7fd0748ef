import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, mkdtempDisposable, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { makeRelease } from '../scripts/release/release.ts'
import { childrenOf } from '../server/testing/process/processes.ts'
import { dataSetOf } from './data-set.ts'
import { applyLoad } from './load.ts'
import { startFilledProduct } from './measured-product.ts'
import { signedIn, WALL } from './scenarios.ts'
import { printMarkdown } from './table.ts'

/** Measures memory, idle and busy, and the disk space of an install and a release. */
const ROOT = join(import.meta.dirname, '..')
const POSTS = 10_000
const BUSY_SECONDS = 10
const IDLE_MS = 60_000
const run = promisify(execFile)

await printSizes()
await printMemory()

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

async function printMemory(): Promise<void> {
  await using started = await startFilledProduct(dataSetOf(POSTS))
  const { tokens } = started
  const { pid = 0, url } = started.product
  const measure = () => {
    const database = descendants(pid).reduce((sum, child) => sum + memoryOf(child), 0)
    return [memoryOf(pid), database].map(Math.round)
  }
  const after = measure()
  await delay(IDLE_MS)
  const idle = measure()
  const requests = [[signedIn(WALL, tokens[0] ?? '')]]
  await applyLoad({ url, seconds: BUSY_SECONDS, requests })
  printMarkdown([
    [`memory with ${POSTS} posts, MiB`, 'server', 'its PostgreSQL'],
    ['after the start', ...after],
    ['after a minute without a request', ...idle],
    [`after ${BUSY_SECONDS} s of reads without pause`, ...measure()],
  ])
}

/** Returns MiB, with a share of what several processes use (Pss in proc(5)). */
function memoryOf(pid: number): number {
  const path = `/proc/${pid}/smaps_rollup`
  const rollup = existsSync(path) ? readFileSync(path, 'utf8') : ''
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024
}

function descendants(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendants(child)])
}
