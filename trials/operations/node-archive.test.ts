import { cp, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { unpackNode } from '../../scripts/node-archive.ts'
import { folderForTest } from '../../server/testing/folder-for-test.ts'
import { run } from './deploy-file.ts'

test('the program of an official archive of Node is taken with its SHA-256, and any other file is refused', {
  timeout: 120_000,
}, async () => {
  const folder = await folderForTest()
  const platform = `${process.platform}-${process.arch}`
  const name = `node-${process.version}-${platform}`
  await mkdir(join(folder, name, 'bin'), { recursive: true })
  await cp(process.execPath, join(folder, name, 'bin/node'))
  await writeFile(join(folder, name, 'LICENSE'), 'MIT')
  const archive = join(folder, `${name}.tar.gz`)
  await run('tar', ['--use-compress-program=gzip -1', '-cf', archive, '-C', folder, name])
  const wanted = { folder: join(folder, 'target'), platform, oldest: process.versions.node }
  const { sha256, version } = await unpackNode(archive, wanted)
  expect(version).toBe(process.versions.node)
  expect((await run('sha256sum', [archive])).stdout).toContain(sha256)
  expect(await readFile(join(wanted.folder, 'SHA256SUMS'), 'utf8')).toBe(
    `${sha256}  ${name}.tar.gz\n`,
  )
  expect((await run(join(wanted.folder, 'bin/node'), ['-p', '6 * 7'])).stdout).toBe('42\n')

  const refused = (file: string, changed = {}) =>
    unpackNode(file, { ...wanted, ...changed }).catch(({ message }) => message)
  expect(await refused(join(folder, 'node.zip'))).toMatch(/нужен архив node-vВЕРСИЯ-.*nodejs\.org$/)
  expect(await refused(archive, { platform: 'darwin-arm64' })).toMatch(/выпуск — для darwin-arm64$/)
  expect(await refused(archive, { oldest: '99.0.0' })).toMatch(/старше Node 99\.0\.0 из npm$/)
  const other = join(folder, `node-v99.0.0-${platform}.tar.gz`)
  expect(await refused(other)).toBe(`Архив Node не прочитан: ${other}`)
  await rename(archive, other)
  expect(await refused(other)).toMatch(/архив повреждён или в нём нет/)
})
