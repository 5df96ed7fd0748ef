import { cp, mkdir, readdir, readFile, readlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { dkimPublicKey } from '../../server/kernel/mail/dkim.ts'
import { openDns } from '../../server/testing/mail/dns-server.ts'
import { asRoot as test } from '../../server/testing/process/folder-for-test.ts'
import { run } from '../operations/deploy-file.ts'
import { DNS, openMachine } from '../operations/machine-without-systemd.ts'
import { copyTree, VERSION } from '../operations/releases.ts'
import { either, expectRight, IN_ALL } from './commands.ts'

const ADMIN = '/opt/vslukh/current/scripts/admin.ts'

test('setup', IN_ALL, async () => {
  await openDns(`--listen-address=${DNS}`, '--local=/example/')
  const machine = await openMachine()
  const etc = join(machine.folder, 'etc')
  // In place of Caddy, which accepts its file.
  await mkdir(join(machine.folder, 'opt/bin'))
  await writeFile(join(machine.folder, 'opt/bin/caddy'), '#!/bin/sh\n', { mode: 0o755 })
  const former = join(machine.folder, 'former')
  await cp(etc, former, { recursive: true, verbatimSymlinks: true })
  const before = new Set(await readdir(former, { recursive: true }))
  const written = ['vslukh', 'vslukh.env', 'vslukh/dkim.pem', 'caddy/Caddyfile.before']
  const textOf = (name: string) => readFile(join(etc, name), 'utf8').catch(() => '')
  await expectRight({
    script: ADMIN,
    args: [
      'setup',
      'wall.example',
      ...machine.smtp,
      '--name',
      'Ромашка',
      '--contact',
      'olga@example.org',
    ],
    env: { PATH: `/opt/bin:${process.env.PATH}` },
    within: machine.within,
    disk: etc,
    seenAs: ['/etc/vslukh', '/etc/.vslukh', '/etc/caddy', '/etc"', '/etc>'],
    prepare: () => cp(former, etc, { recursive: true, verbatimSymlinks: true }),
    mayBeThere: { test: (name) => before.has(name) || written.includes(name) },
    // Nothing starts here without systemd.
    isDone: /systemd здесь нет/,
    async stateOf() {
      const settings = await textOf('vslukh.env')
      const key = await textOf('vslukh/dkim.pem')
      const proxy = await textOf('caddy/Caddyfile')
      if (settings !== '') expect(settings).toMatch(/^DKIM_SELECTOR=wall\n/m)
      if (key !== '') dkimPublicKey(key)
      expect(proxy).toMatch(/^:80 \{[\s\S]*\}\n$|^wall\.example \{[\s\S]*\}\n$/m)
      return either(settings !== '' && key !== '' && proxy.includes('wall.example'))
    },
  })
})

test('upgrade', IN_ALL, async () => {
  const next = '99.0.0'
  const machine = await openMachine()
  const { folder } = machine
  await copyTree(join(folder, 'next'), next)
  const name = `vslukh-${next}-${process.platform}-${process.arch}`
  const put = ['--transform', `s,^next,${name},`, 'next']
  await run('tar', ['-czf', `opt/${name}.tar.gz`, ...put], { cwd: folder })
  await run('sh', ['-c', `cd opt && sha256sum ${name}.tar.gz > SHA256SUMS`], { cwd: folder })
  const [opt, former] = [join(folder, 'opt/vslukh'), join(folder, 'former')]
  await cp(opt, former, { recursive: true, verbatimSymlinks: true })
  const current = () => readlink(join(opt, 'current'))
  const booted = 'mount -t tmpfs run /run; mkdir -p /run/systemd/system; exec "$@"'
  await expectRight({
    script: ADMIN,
    args: ['upgrade', `/opt/${name}.tar.gz`, '--yes'],
    env: {},
    within: (words) => machine.within(['sh', '-c', booted, 'sh', ...words]),
    disk: opt,
    // Not its hidden files of settings, which libraries look for while they are loaded.
    seenAs: ['/opt/vslukh/.upgrade', `/opt/${name}`, '/opt/SHA256SUMS'],
    prepare: () => cp(former, opt, { recursive: true, verbatimSymlinks: true }),
    mayBeThere: {
      test: (path) => ['current', '.lock', VERSION, next].includes(path.split('/')[0] ?? ''),
    },
    isDone: /уже стоит/,
    stateOf: async () => {
      expect(await readdir(join(opt, await current()))).toContain('package.json')
      return either((await current()) === next)
    },
  })
})
