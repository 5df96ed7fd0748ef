import { spawn } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { endChild, untilPrinted } from '../../testing/process/child-process.ts'
import { folderForTest } from '../../testing/process/folder-for-test.ts'
import { removeAbandonedFiles, replaceFile, unfinishedPath } from './replace-file.ts'

const MODULE = join(import.meta.dirname, 'replace-file.ts')

/** Starts a process that begins a file or a folder and ends only by `kill`. Returns its name. */
async function begin(path: string, how: 'writeFileSync' | 'mkdirSync') {
  const script = `import { ${how} } from 'node:fs'; import { basename } from 'node:path'
    import { unfinishedPath } from ${JSON.stringify(MODULE)}
    const path = unfinishedPath(process.argv[1])
    ${how}(path${how === 'writeFileSync' ? ', ""' : ''}); console.log(basename(path)); setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [name] = await untilPrinted(child, /^\..*/)
  return { name, kill: () => endChild(child, 'SIGKILL') }
}

test('what killed processes have left in a folder goes when a file is written there; what running processes or other machines write stays', async () => {
  const folder = await folderForTest()
  const path = join(folder, 'settings')
  const killed = await begin(join(folder, 'other'), 'writeFileSync')
  const running = await begin(path, 'writeFileSync')
  await killed.kill()
  const others = ['.settings.000000-999999999-000000', '.settings.old', '.other.x', 'settings.x']
  for (const name of others) await writeFile(join(folder, name), '')
  await replaceFile(path, 'new')
  await running.kill()
  expect((await readdir(folder)).sort()).toEqual([...others, 'settings', running.name].sort())
  expect(await readFile(path, 'utf8')).toBe('new')
})

test('a folder that a killed process has left goes with all its files', async () => {
  const folder = await folderForTest()
  const path = join(folder, 'verification')
  const { name, kill } = await begin(path, 'mkdirSync')
  await writeFile(join(folder, name, 'rows'), '')
  await kill()
  const own = unfinishedPath(path)
  await mkdir(own)
  await removeAbandonedFiles(folder)
  expect([join(folder, ...(await readdir(folder)))]).toEqual([own])
})
