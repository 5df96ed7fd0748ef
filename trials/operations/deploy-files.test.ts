import { readFile } from 'node:fs/promises'
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

test('systemd finds nothing wrong with the services, which differ only in the port and the settings file of a node', async () => {
  const folder = await folderForTest()
  const analyze = await programOf('systemd', '/usr/bin/systemd-analyze')
  const copy = (name: string) => copyDeployFile(name, folder, [['/opt/vslukh/current', ROOT]])
  const files = [await copy('vslukh.service'), await copy('vslukh@.service')]
  for (const file of files) {
    expect(await run(analyze, ['verify', '--man=no', file])).toEqual({ stdout: '', stderr: '' })
  }
  const [one = '', many = ''] = await Promise.all(files.map((file) => readFile(file, 'utf8')))
  const settings = (text: string) => text.slice(text.indexOf('[Unit]')).replace(/^#.*\n/gm, '')
  const ofNode = [', порт %i', 'PORT=%i ', 'EnvironmentFile=-/etc/vslukh@%i.env\n']
  const asOne = ofNode.reduce((text, part) => text.replace(part, ''), settings(many))
  expect(asOne).toBe(settings(one))
})
