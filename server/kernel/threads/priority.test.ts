import { execFileSync } from 'node:child_process'
import { getPriority } from 'node:os'
import { expect, test } from 'vitest'

// Of a process of its own, since this one's priorities are those of every other test.
const SCRIPT = `
  import { getPriority } from 'node:os'
  import { readdirSync, readFileSync } from 'node:fs'
  import { lowerV8Priority } from '${import.meta.dirname}/threads.ts'
  lowerV8Priority()
  const threads = readdirSync('/proc/self/task').map((thread) => ({
    isHelper: readFileSync('/proc/self/task/' + thread + '/comm', 'utf8').includes('V8Worker'),
    by: getPriority(Number(thread)) - getPriority(),
  }))
  console.log(JSON.stringify(threads))`

test.runIf(process.platform === 'linux')(
  'the threads that mark garbage give way to all others of the process',
  () => {
    const args = ['--input-type=module', '--eval', SCRIPT]
    const threads = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
    const [helpers, others] = [true, false].map((kind) =>
      threads.filter(({ isHelper }: { isHelper: boolean }) => isHelper === kind),
    )
    expect(helpers.length).toBeGreaterThan(0)
    // Nothing is nicer than 19, so under `nice` less is left.
    const most = Math.min(10, 19 - getPriority())
    expect(new Set(helpers.map(({ by }: { by: number }) => by))).toEqual(new Set([most]))
    expect(new Set(others.map(({ by }: { by: number }) => by))).toEqual(new Set([0]))
  },
)
