import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { folderForTest } from '../../server/testing/process/folder-for-test.ts'
import { copyPart, PARTS } from './release.ts'

const IMPORTS = /(?:from |import |import\(|new URL\()'(\.{1,2}\/[^']+)'/g

/** Returns what the files of these parts import and the parts do not contain. */
async function missingImports(parts: string[]): Promise<string[]> {
  const root = await folderForTest()
  for (const part of parts) await copyPart(part, '.', root)
  const files = globSync('**/*.ts', { cwd: root })
  expect(files.length).toBeGreaterThan(200)
  return files.flatMap((file) => {
    const imports = readFileSync(join(root, file), 'utf8').matchAll(IMPORTS)
    const missing = [...imports].filter(([, path = '']) => {
      return !existsSync(join(root, dirname(file), path))
    })
    return missing.map(([, path]) => `${file}: ${path}`)
  })
}

test('a release has every file that its files import', async () => {
  expect(await missingImports(PARTS.filter((part) => part !== 'dist/web'))).toEqual([])
})

test('the image has every file that its files import', async () => {
  const stages = readFileSync('Dockerfile', 'utf8').split(/^FROM /m)
  const copied = (stages.at(-1) ?? '').matchAll(/^COPY (?!--)(.*) \S+$/gm)
  const parts = [...copied].flatMap(([, paths = '']) => paths.split(' '))
  expect(await missingImports(parts)).toEqual([])
})
