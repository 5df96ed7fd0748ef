import { spawnSync } from 'node:child_process'
import { cp, readFile, symlink, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { folderForTest } from '../../server/testing/process/folder-for-test.ts'
import { ROOT } from '../operations/deploy-file.ts'
import { PLANTED_FAULTS, type PlantedFault } from './planted-faults.ts'

/** What is no source, or is made anew. */
const NOT_COPIED = /^(?:node_modules|\.git|\.mutants|data|web\/dist)(?:\/|$)/

test.for(PLANTED_FAULTS)('$judge: $fault', { timeout: 1_800_000 }, async (planted) => {
  const copy = await folderForTest()
  await copyProduct(copy)
  await plant(copy, planted)
  const { code, said } = judge(copy, planted)
  expect(code, said).toBe(1)
  expect(said).toMatch(planted.reports)
})

async function copyProduct(folder: string): Promise<void> {
  const filter = (path: string) => !NOT_COPIED.test(relative(ROOT, path))
  await cp(ROOT, folder, { recursive: true, filter })
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
}

async function plant(folder: string, { file, text, planted }: PlantedFault): Promise<void> {
  const path = join(folder, file)
  const content = await readFile(path, 'utf8')
  await writeFile(
    path,
    content.replace(text, () => planted),
  )
}

function judge(folder: string, { run, env }: PlantedFault): { code: number | null; said: string } {
  const [program = '', ...args] = run
  const { status, stdout, stderr } = spawnSync(join(folder, 'node_modules/.bin', program), args, {
    cwd: folder,
    env: { ...process.env, NO_COLOR: '1', ...env },
    encoding: 'utf8',
    maxBuffer: 64 * 1024 ** 2,
  })
  return { code: status, said: stdout + stderr }
}
