import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { untilPrinted } from '../../server/testing/process/child-process.ts'
import { folderForTest } from '../../server/testing/process/folder-for-test.ts'
import { freePort } from '../../server/testing/process/free-port.ts'
import { ROOT, run } from './deploy-file.ts'

const LONGEST_MS = 60_000
/** What the demo runs from; the web is not built in it. */
const CHECKOUT = [
  ...['package.json', 'package-lock.json', '.npmrc', 'tsconfig.json', 'vite.config.ts'],
  ...['bin', 'contract', 'demo', 'scripts', 'server', 'web'],
]

test('in a new checkout `npm run demo` prints within a minute a link that signs in', {
  timeout: 5 * LONGEST_MS,
}, async ({ annotate }) => {
  const checkout = await folderForTest()
  for (const part of CHECKOUT) {
    await cp(join(ROOT, part), join(checkout, part), { recursive: true })
  }
  await run('npm', ['ci'], { cwd: checkout })
  // Without code that an earlier start has compiled.
  const { NODE_COMPILE_CACHE: _, ...inherited } = process.env
  const own = { PORT: String(await freePort()), XDG_CACHE_HOME: join(checkout, 'cache') }
  const began = performance.now()
  // A process group of its own: npm does not pass every signal on.
  const demo = spawn('npm', ['run', 'demo'], {
    cwd: checkout,
    env: { ...inherited, ...own },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  const exit = once(demo, 'exit')
  onTestFinished(async () => {
    if (demo.pid && demo.exitCode === null) process.kill(-demo.pid, 'SIGTERM')
    await exit
  })

  const [, url = ''] = await untilPrinted(demo, /^Войти как .*: (http.*)$/)
  const ms = performance.now() - began
  await annotate(`${(ms / 1000).toFixed(1)} s`)
  expect(ms).toBeLessThan(LONGEST_MS)
  const answer = await fetch(url, { redirect: 'manual' })
  expect(answer.headers.getSetCookie()).not.toEqual([])
})
