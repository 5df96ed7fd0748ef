import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished, test } from 'vitest'
import { endChild, untilPrinted } from './child-process.ts'
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

/** For tests that hang a folder. */
export const asRootWithFuse = test.skipIf(!isRoot || !existsSync('/dev/fuse'))

/** Whoever holds this file open serves the folder, and `sleep` answers nothing. */
const HANG = `exec 9<>/dev/fuse &&
  mount -i -t fuse -o fd=9,rootmode=40000,user_id=0,group_id=0 hanging "$0" && echo mounted && exec sleep 600`

/** Mounts a disk that never answers, until `release` or the end of the test. */
export async function hangForTest(folder: string): Promise<{ release: () => Promise<void> }> {
  const server = spawn('sh', ['-c', HANG, folder], { stdio: ['ignore', 'pipe', 'pipe'] })
  const release = async () => {
    await endChild(server)
    await execute('umount', ['--lazy', folder]).catch(() => {})
  }
  onTestFinished(release)
  await untilPrinted(server, /mounted/)
  return { release }
}
