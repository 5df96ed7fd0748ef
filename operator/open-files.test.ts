import { expect, test } from 'vitest'
import { runHere } from '../server/testing/process/run-command.ts'
import { namesIn } from './open-files.ts'

test('root opens each file that a command of the wall’s user is given, whatever options precede it', async () => {
  const { commands } = JSON.parse((await runHere({}, ['--help', '--json'])).out)
  const usages: string[] = commands.flatMap(({ usage }: { usage: string[] }) => usage)
  const naming = usages
    .map((usage) => usage.replaceAll(/\[?--[a-z\d-]+( [^\s\][]+)?\]?/g, '').trim())
    .filter((words) => /ФАЙЛ|ПАПКА/.test(words))
  expect(naming).toContain('user КТО export ФАЙЛ')
  // Root runs this one itself.
  for (const words of naming.filter((form) => !form.startsWith('upgrade'))) {
    const args = words.replace(/\[?ФАЙЛ.*/, '/root/x').split(' ')
    const { reads, writes } = namesIn(['--as', 'masha', '--env-file=/root/env', ...args])
    expect([...reads, writes?.path]).toEqual(expect.arrayContaining(['/root/env', '/root/x']))
  }
})
