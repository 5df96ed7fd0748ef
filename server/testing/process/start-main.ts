import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { untilReady } from './child-process.ts'

const MAIN = join(import.meta.dirname, '../../main.ts')
const { PATH, NODE_COMPILE_CACHE } = process.env
const INHERITED = { PATH, NODE_COMPILE_CACHE }

/**
 * Starts the product as an operator does, with these variables only. Resolves once it is ready or
 * has ended, with its exit code (null when ready) and its output. The test's end stops it.
 */
export async function startMain(env: Record<string, string>, { uid }: { uid?: number } = {}) {
  const child = spawn(process.execPath, [MAIN], {
    env: { ...INHERITED, PORT: '0', LOG_LEVEL: 'silent', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid, gid: uid }),
  })
  const closed = once(child, 'close')
  const stop = async () => {
    child.kill('SIGTERM')
    await closed
  }
  onTestFinished(stop)
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (data) => {
    stdout += data
  })
  child.stderr.setEncoding('utf8').on('data', (data) => {
    stderr += data
  })
  const url = await untilReady(child).catch(() => closed.then(() => ''))
  return {
    /** Its address; empty if it has ended. */
    url,
    code: child.exitCode,
    stdout,
    stop,
    async kill(): Promise<void> {
      child.kill('SIGKILL')
      await closed
    },
    get stderr() {
      return stderr
    },
  }
}
