import { lookup } from 'node:dns/promises'
import { mkdtemp, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import {
  asRootWithFuse,
  folderForTest,
  hangForTest,
} from '../../testing/process/folder-for-test.ts'
import { isDiskSilent, runOnDisk, whileDiskAnswers } from './disk.ts'

asRootWithFuse(
  'a folder that hangs refuses calls after a deadline and then at once, keeps one thread, and serves again when it answers',
  async () => {
    const parent = await folderForTest()
    const folder = await mkdtemp(join(parent, 'hanging-'))
    const { release } = await hangForTest(folder)
    let begun = 0
    const look = (withinMs?: number) => {
      const call = () => {
        begun++
        return stat(folder)
      }
      return runOnDisk(folder, call, withinMs === undefined ? {} : { withinMs })
    }
    const outcomes = await Promise.allSettled([look(200), look(200)])
    const others = await Promise.allSettled(Array.from({ length: 20 }, () => look()))
    for (const outcome of [...outcomes, ...others]) {
      expect(outcome.status === 'rejected' && isDiskSilent(outcome.reason)).toBe(true)
    }
    expect(begun).toBe(1)
    const work = () => new Promise<never>(() => {})
    const { signal } = new AbortController()
    await expect(whileDiskAnswers(folder, work, { signal, everyMs: 1 })).rejects.toSatisfy(
      isDiskSilent,
    )
    await Promise.all(Array.from({ length: 8 }, () => readFile(import.meta.filename)))
    await lookup('localhost')

    await release()
    await expect.poll(() => look().then((found) => found.isDirectory(), isDiskSilent)).toBe(true)
    expect((await look()).isDirectory()).toBe(true)
  },
)
