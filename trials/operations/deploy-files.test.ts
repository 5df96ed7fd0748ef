import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { findNginx, findProgram } from '../../server/testing/debian-package.ts'
import { folderForTest } from '../../server/testing/folder-for-test.ts'
import { ROOT, readDeployFile, run } from './deploy-file.ts'

test('the folder in which nginx makes its cache comes with Debian’s package', async () => {
  await findNginx()
  const site = await readFile(join(ROOT, 'deploy/nginx.conf'), 'utf8')
  const cache = /^proxy_cache_path (\S+)/m.exec(site)?.[1] ?? ''
  const { stdout } = await run('dpkg', ['-L', 'nginx-common'])
  expect(stdout.split('\n')).toContain(dirname(cache))
})

test('systemd finds nothing wrong with the services, which differ only in the port and the settings file of a node', async () => {
  const folder = await folderForTest()
  const analyze = await findProgram(['/usr/bin/systemd-analyze'], {
    debianPackage: 'systemd',
    advice: 'No systemd-analyze found: this test needs systemd',
  })
  const verify = async (name: string, text: string) => {
    const file = join(folder, name)
    await writeFile(file, text)
    const { stdout, stderr } = await run(analyze, ['verify', '--man=no', file])
    return stdout + stderr
  }
  const inCheckout: [string, string][] = [['/opt/vslukh/current', ROOT]]
  const one = await readDeployFile('vslukh.service', inCheckout)
  const many = await readDeployFile('vslukh@.service', inCheckout)
  expect(await verify('vslukh.service', one)).toBe('')
  expect(await verify('vslukh@.service', many)).toBe('')
  expect(await verify('wrong.service', one.replace('UMask=', 'UMaske='))).toContain('UMaske')

  const settings = (text: string) => text.slice(text.indexOf('[Unit]')).replace(/^#.*\n/gm, '')
  const ofNode = [', порт %i', 'PORT=%i ', 'EnvironmentFile=-/etc/vslukh@%i.env\n']
  const asOne = ofNode.reduce((text, part) => text.replace(part, ''), settings(many))
  expect(asOne).toBe(settings(one))
})
