import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const BUILT = join(ROOT, 'dist/web')
const HASH_FILE = '.inputs'
/** The lock file stands for the libraries. */
const INPUTS = [
  'contract/**',
  'web/**',
  'package-lock.json',
  'vite.config.ts',
  'scripts/{first-scripts,style-plugins}.ts',
]
const TEST_FILE = /\.test\.tsx?$/

/**
 * Builds the web into dist/web unless that was built from the same sources; resolves to whether it
 * built. Does nothing in a release, which has no sources. A failed build leaves dist/web unchanged.
 */
export async function buildWebIfNeeded(): Promise<boolean> {
  if (!existsSync(join(ROOT, 'web'))) return false
  const inputs = hashInputs()
  if (readBuiltHash() === inputs) return false
  requireBundler()
  console.log('Собираем веб-приложение…')
  const fresh = `${BUILT}.${process.pid}`
  try {
    await runBuild(fresh)
    writeFileSync(join(fresh, HASH_FILE), inputs)
    replace(BUILT, fresh)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
  return true
}

/** Throws if only the packages that the server needs were installed. */
function requireBundler(): void {
  try {
    import.meta.resolve('vite')
  } catch (cause) {
    const text =
      'Веб-приложение не собрано, а собрать его нечем: установлено без devDependencies. ' +
      'Выполните npm ci, или скопируйте dist/web, собранное из этих же файлов, или возьмите архив выпуска.'
    throw new Error(text, { cause })
  }
}

function readBuiltHash(): string | null {
  try {
    return readFileSync(join(BUILT, HASH_FILE), 'utf8')
  } catch {
    return null
  }
}

/** Leaves out tests. */
function hashInputs(): string {
  const hash = createHash('sha256')
  const files = globSync(INPUTS, { cwd: ROOT, withFileTypes: true })
    .filter((entry) => entry.isFile() && !TEST_FILE.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
  for (const path of files.sort()) {
    const content = readFileSync(join(ROOT, path))
    hash.update(`${path}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}

/** Builds in another process, so that the bundler does not stay in the server's memory. */
async function runBuild(outDir: string): Promise<void> {
  const script = join(import.meta.dirname, 'build-web.ts')
  const build = spawn(process.execPath, [script, relative(join(ROOT, 'web'), outDir)], {
    cwd: ROOT,
    // A test run sets NODE_ENV to test, which would bundle React's development build.
    env: { ...process.env, NODE_ENV: 'production', VITEST: undefined },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const [code, signal] = await once(build, 'exit')
  if (code !== 0) throw new Error(`The web did not build (${signal ?? `exit code ${code}`})`)
}

/** Replaces a folder by two renames, so that no process finds half of a build. */
function replace(place: string, fresh: string): void {
  const old = `${fresh}.old`
  try {
    renameSync(place, old)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  renameSync(fresh, place)
  rmSync(old, { recursive: true, force: true })
}

if (import.meta.main) await buildWebIfNeeded()
