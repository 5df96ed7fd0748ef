import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { makeRelease } from '../scripts/release.ts'
import { childrenOf } from '../server/testing/processes.ts'
import { signInUsers } from './access-tokens.ts'
import { dataSetOf } from './data-set.ts'
import { applyLoad } from './load.ts'
import { startFilledProduct } from './measured-product.ts'

/** Measures memory, idle and busy, and the disk space of an install and a release. */
const ROOT = join(import.meta.dirname, '..')
const POSTS = 10_000
const BUSY_SECONDS = 10
const IDLE_MS = 60_000
const PORT = 3213
const run = promisify(execFile)

await printSizes()
await printMemory()

async function printSizes(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'vslukh-footprint-'))
  try {
    const archive = await makeRelease(folder)
    await run('tar', ['-xzf', archive, '-C', folder])
    const unpacked = readdirSync(folder, { withFileTypes: true }).find((it) => it.isDirectory())
    console.log('| on disk | MiB |\n| --- | --- |')
    console.log(`| \`npm ci\` | ${await diskUse([join(ROOT, 'node_modules')])} |`)
    console.log(`| \`npm ci --omit=dev\` | ${await diskUse(productionPackages())} |`)
    console.log(`| a release, unpacked | ${await diskUse([join(folder, unpacked?.name ?? '')])} |`)
    console.log(`| its archive | ${Math.round((await stat(archive)).size / 1024 ** 2)} |\n`)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function productionPackages(): string[] {
  const packagesIn = (lock: string): Record<string, { dev?: boolean }> =>
    JSON.parse(readFileSync(join(ROOT, lock), 'utf8')).packages
  // As npm recorded them: optional ones may be missing.
  const installed = packagesIn('node_modules/.package-lock.json')
  return Object.entries(packagesIn('package-lock.json'))
    .filter(([path, { dev }]) => path && !dev && path in installed)
    .map(([path]) => join(ROOT, path))
}

/** Returns MiB; files in two of the folders count once. */
async function diskUse(folders: string[]): Promise<number> {
  const { stdout } = await run('du', ['-ckd0', ...folders], { maxBuffer: 1e8 })
  const [kilobytes] = stdout.trimEnd().split('\n').at(-1)?.split('\t') ?? []
  return Math.round(Number(kilobytes) / 1024)
}

async function printMemory(): Promise<void> {
  const prepare = (url: string) => signInUsers(url, 1)
  const filling = { dataSet: dataSetOf(POSTS), port: PORT, prepare }
  await using started = await startFilledProduct(filling)
  const { product, prepared } = started
  const pid = product.pid ?? 0
  const [token = ''] = prepared
  console.log(`| memory with ${POSTS} posts, MiB | server | its PostgreSQL |\n| --- | --- | --- |`)
  printUse('after the start', pid)
  await delay(IDLE_MS)
  printUse('after a minute without a request', pid)
  const url = `${product.url}/api/v1/posts`
  const request = { headers: { authorization: `Bearer ${token}` } }
  await applyLoad({ url, seconds: BUSY_SECONDS, request })
  printUse(`after ${BUSY_SECONDS} s of reads without pause`, pid)
}

function printUse(when: string, pid: number): void {
  const database = descendants(pid).reduce((sum, child) => sum + memoryOf(child), 0)
  console.log(`| ${when} | ${Math.round(memoryOf(pid))} | ${Math.round(database)} |`)
}

/** Returns MiB, with a share of what several processes use (Pss in proc(5)); 0 if it has ended. */
function memoryOf(pid: number): number {
  const path = `/proc/${pid}/smaps_rollup`
  const rollup = existsSync(path) ? readFileSync(path, 'utf8') : ''
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024
}

function descendants(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendants(child)])
}
