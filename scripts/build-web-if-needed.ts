import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { hashWebInputs } from './web-inputs.ts'

const ROOT = join(import.meta.dirname, '..')
const BUILT = join(ROOT, 'dist/web')
const STAMP = '.inputs'

/**
 * Builds the web into dist/web unless what lies there was built from the very same sources;
 * resolves to whether it built. Rejects with an Error where the build fails, and then dist/web
 * stays as it was.
 */
export async function buildWebIfNeeded(): Promise<boolean> {
  const inputs = hashWebInputs(ROOT)
  if (readStamp() === inputs) return false
  console.log('Собираем веб-приложение…')
  const fresh = `${BUILT}.${process.pid}`
  try {
    await runBuild(fresh)
    writeFileSync(join(fresh, STAMP), inputs)
    replace(BUILT, fresh)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
  return true
}

function readStamp(): string | null {
  try {
    return readFileSync(join(BUILT, STAMP), 'utf8')
  } catch {
    return null
  }
}

/** A process of its own: the server that starts next should not carry a bundler in its memory. */
async function runBuild(outDir: string): Promise<void> {
  const script = join(import.meta.dirname, 'build-web.ts')
  const build = spawn(process.execPath, [script, relative(join(ROOT, 'web'), outDir)], {
    cwd: ROOT,
    // A test run sets NODE_ENV to test, which would bundle React's development half.
    env: { ...process.env, NODE_ENV: 'production', VITEST: undefined },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const [code, signal] = await once(build, 'exit')
  if (code !== 0) throw new Error(`The web did not build (${signal ?? `exit code ${code}`})`)
}

/** Two renames instead of a removal: nobody ever finds half of a build. */
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
