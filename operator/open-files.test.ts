import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { whyFailed } from '../server/kernel/errors/why-failed.ts'
import { folderForTest } from '../server/testing/process/folder-for-test.ts'
import { runHere } from '../server/testing/process/run-command.ts'
import { openTrustedFile } from './named-path.ts'
import { namesIn } from './open-files.ts'

test('root opens each file that a command of the wall’s user is given, whatever options precede it', async () => {
  const { commands } = JSON.parse((await runHere({}, ['--help', '--json'])).out)
  const usages: string[] = commands.flatMap(({ usage }: { usage: string[] }) => usage)
  const naming = usages
    .map((usage) => usage.replaceAll(/\[?--[a-z\d-]+( [^\s\][]+)?\]?/g, '').trim())
    .filter((words) => /ФАЙЛ|ПАПКА/.test(words))
  expect(naming).toContain('user КТО export ФАЙЛ')
  // Root runs the first itself. The second writes thousands of files where the wall's user may.
  for (const words of naming.filter((form) => !/^(?:upgrade|archive)/.test(form))) {
    const args = words.replace(/\[?ФАЙЛ.*/, '/root/x').split(' ')
    const { reads, writes } = namesIn(['--as', 'masha', '--env-file=/root/env', ...args])
    expect([...reads, writes?.path]).toEqual(expect.arrayContaining(['/root/env', '/root/x']))
  }
})

test('links of root that lead in a circle are named as such, in a file and in a folder on its way', async () => {
  const folder = await folderForTest()
  const loop = join(folder, 'loop')
  await symlink('loop', loop)
  for (const path of [loop, join(loop, 'file')]) {
    const open = () => {
      try {
        return openTrustedFile(path)
      } catch (error) {
        return whyFailed(error)
      }
    }
    expect(open()).toBe('ссылки в пути ведут по кругу (ELOOP, open)')
  }
})
