import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished, test } from 'vitest'
import { isRoot } from './debian-package.ts'

const execute = promisify(execFile)

/** For tests that mount disks, change users or boot a machine. */
export const asRoot = test.skipIf(!isRoot)

/** Makes a folder that is removed after the test. */
export async function folderForTest(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'vslukh-test-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Mounts a disk in memory until the end of the test (mount(8)). Only root may do so. */
export async function mountForTest(folder: string, options: string): Promise<void> {
  await execute('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder])
  onTestFinished(async () => void (await execute('umount', ['--lazy', folder])))
}
