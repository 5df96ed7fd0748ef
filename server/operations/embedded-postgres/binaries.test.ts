import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderForTest } from '../../testing/process/folder-for-test.ts'
import { restoreLibraryLinks } from './binaries.ts'

test('links to libraries that npm has not made without install scripts are made', async () => {
  const root = await folderForTest()
  await mkdir(join(root, 'native/lib'), { recursive: true })
  await writeFile(join(root, 'native/lib/libpq.so.5.18'), 'library')
  const links = [{ source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' }]
  await writeFile(join(root, 'native/pg-symlinks.json'), JSON.stringify(links))
  for (let starts = 0; starts < 2; starts++) await restoreLibraryLinks(root)
  expect(await readFile(join(root, 'native/lib/libpq.so.5'), 'utf8')).toBe('library')
})
