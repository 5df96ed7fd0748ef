import { copyFile, mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { findNginx } from '../../server/testing/process/debian-package.ts'
import { folderForTest } from '../../server/testing/process/folder-for-test.ts'
import { copyDeployFile, programOf, ROOT, run } from './deploy-file.ts'

test('the folder in which nginx makes its cache comes with Debian’s package', async () => {
  await findNginx()
  const site = await readFile(join(ROOT, 'deploy/nginx.conf'), 'utf8')
  const cache = /^proxy_cache_path (\S+)/m.exec(site)?.[1] ?? ''
  const { stdout } = await run('dpkg', ['-L', 'nginx-common'])
  expect(stdout.split('\n')).toContain(dirname(cache))
})

test('systemd finds nothing wrong with the service, nor with the drop-in that makes it one of several nodes', async () => {
  const folder = await folderForTest()
  const analyze = await programOf('systemd', '/usr/bin/systemd-analyze')
  const one = await copyDeployFile('vslukh.service', folder, [['/opt/vslukh/current', ROOT]])
  const many = join(folder, 'vslukh@.service')
  await copyFile(one, many)
  await mkdir(`${many}.d`)
  await copyFile(join(ROOT, 'deploy/vslukh@.conf'), join(`${many}.d`, 'node.conf'))
  for (const file of [one, many]) {
    expect(await run(analyze, ['verify', '--man=no', file])).toEqual({ stdout: '', stderr: '' })
  }
})
