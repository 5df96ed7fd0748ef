import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { access, constants, mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { ifExists, readIfExists } from '../server/kernel/config/read-if-exists.ts'
import {
  removeAbandonedFiles,
  removePath,
  unfinishedPath,
} from '../server/kernel/config/replace-file.ts'
import { StartError } from '../server/kernel/errors/app-error.ts'
import { requireInstalledPackages } from './installed-packages.ts'

const ROOT = join(import.meta.dirname, '..')
const BUILT = join(ROOT, 'dist/web')
const HASH_FILE = '.inputs'
/** The lock file stands for the libraries. */
const INPUTS = [
  '{contract,web}/**/*.*',
  'package-lock.json',
  'vite.config.ts',
  'scripts/{first-scripts,style-plugins}.ts',
]

/**
 * Builds the web into dist/web unless that was built from the same sources. Does nothing in a
 * release, which has no sources. A failed build leaves dist/web unchanged.
 */
export async function buildWebIfNeeded(): Promise<void> {
  if (!existsSync(join(ROOT, 'web'))) return
  requireInstalledPackages(ROOT)
  const inputs = hashInputs()
  if ((await readIfExists(join(BUILT, HASH_FILE))) === inputs) return
  requireBundler()
  requireInstalledPackages(ROOT, { withDev: true })
  // Found here, a folder of another user is named, and the bundler prints no stack.
  await mkdir(dirname(BUILT), { recursive: true })
  await access(dirname(BUILT), constants.W_OK)
  console.log('Собираем веб-приложение…')
  await removeAbandonedFiles(dirname(BUILT))
  const [fresh, old] = [unfinishedPath(BUILT), unfinishedPath(BUILT)]
  try {
    await runBuild(fresh)
    await writeFile(join(fresh, HASH_FILE), inputs)
    // By two renames, so that no process finds half of a build.
    await ifExists(rename(BUILT, old))
    await rename(fresh, BUILT).catch(async (cause) => {
      await ifExists(rename(old, BUILT))
      throw cause
    })
  } finally {
    for (const folder of [fresh, old]) await removePath(folder)
  }
}

/** Throws StartError if only the packages that the server needs were installed. */
function requireBundler(): void {
  try {
    import.meta.resolve('vite')
  } catch (cause) {
    const text =
      'Веб-приложение не собрано, а собрать его нечем: пакеты для разработки не установлены ' +
      '(так бывает с NODE_ENV=production). Выполните npm ci --include=dev, ' +
      'или скопируйте dist/web, собранное из этих же файлов, или возьмите архив выпуска.'
    throw new StartError(text, { cause })
  }
}

function hashInputs(): string {
  const hash = createHash('sha256')
  const files = globSync(INPUTS, { cwd: ROOT, exclude: ['**/*.test.{ts,tsx}'] })
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
  if (code === 0) return
  throw new StartError(
    `Веб-приложение не собралось (${signal ?? `код ${code}`}): почему, сборщик напечатал выше. ` +
      'Проверьте место на диске и файлы папки web и повторите',
  )
}

if (import.meta.main) await buildWebIfNeeded()
