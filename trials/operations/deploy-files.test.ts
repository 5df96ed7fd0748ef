import { spawn } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findBalancer } from '../../server/testing/balancer.ts'
import { endChild, untilUp } from '../../server/testing/child-process.ts'
import { findNginx, findProgram } from '../../server/testing/debian-package.ts'
import { folderForTest } from '../../server/testing/folder-for-test.ts'
import { freePort } from '../../server/testing/free-port.ts'
import { ROOT, readDeployFile, run } from './deploy-file.ts'
import { debiansPostgres } from './own-postgres.ts'
import { caddyConfig, haproxyConfig, nginxConfig } from './proxy-configs.ts'

test.each([
  ['nginx', nginxConfig, 'proxy_cache_lock'],
  ['Caddy', caddyConfig, 'lb_try_interval'],
  ['HAProxy', haproxyConfig, 'balance'],
])('%s accepts its file, and would not accept an unknown word', async (_, prepare, word) => {
  const folder = await folderForTest()
  const [httpPort, httpsPort] = [await freePort(), await freePort()]
  const settings = { folder, httpPort, httpsPort, nodes: ['127.0.0.1:3000'] }
  const { program, check, file } = await prepare(settings)
  await run(program, check)
  await writeFile(file, (await readFile(file, 'utf8')).replace(word, 'no_such_word'))
  await expect(run(program, check)).rejects.toThrow(/no_such_word/)
})

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

test('Patroni accepts its file if PostgreSQL and etcd exist, and HAProxy the file that finds the primary', async () => {
  const folder = await folderForTest()
  const patroni = await findProgram(['/usr/bin/patroni'], {
    debianPackage: 'patroni',
    advice: 'No patroni found: install it',
  })
  const etcd = await startEtcd(folder)
  const [restPort, postgresPort] = [await freePort(), await freePort()]
  const text = await readDeployFile('patroni/patroni.yml', [
    ['    - 10.0.0.12:2379\n    - 10.0.0.13:2379\n', ''],
    ['10.0.0.11:2379', etcd],
    ['10.0.0.11:8008', `${ownAddress()}:${restPort}`],
    ['10.0.0.11:5432', `${ownAddress()}:${postgresPort}`],
    ['/var/lib/postgresql/vslukh', join(folder, 'data')],
    ['/usr/lib/postgresql/15/bin', await debiansPostgres()],
  ])
  const file = join(folder, 'patroni.yml')
  await writeFile(file, text)
  await mkdir(join(folder, 'data'))
  await run(patroni, ['--validate-config', file])
  await writeFile(file, text.replace('restapi:', 'rest:'))
  await expect(run(patroni, ['--validate-config', file])).rejects.toThrow(/restapi/)

  await run(await findBalancer(), ['-c', '-f', join(ROOT, 'deploy/patroni/haproxy.cfg')])
})

/**
 * Returns an address of this machine: Patroni refuses loopback, at which other machines would not
 * find it.
 */
function ownAddress(): string {
  const addresses = Object.values(networkInterfaces()).flat()
  const own = addresses.find((address) => address && !address.internal && address.family === 'IPv4')
  if (!own) throw new Error('This machine has no address but loopback, which Patroni refuses')
  return own.address
}

/** Starts etcd for one test. Returns its host and port. */
async function startEtcd(folder: string): Promise<string> {
  const program = await findProgram(['/usr/bin/etcd'], {
    debianPackage: 'etcd-server',
    advice: 'No etcd found: install it',
  })
  const [clients, peers] = [`127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`]
  const etcd = spawn(
    program,
    [
      ...['--data-dir', join(folder, 'etcd'), '--listen-peer-urls', peers],
      ...['--initial-advertise-peer-urls', peers, '--initial-cluster', `default=${peers}`],
      ...[
        '--listen-client-urls',
        `http://${clients}`,
        '--advertise-client-urls',
        `http://${clients}`,
      ],
    ],
    { stdio: 'ignore' },
  )
  onTestFinished(() => endChild(etcd))
  await untilUp(etcd, () => fetch(`http://${clients}/health`).then(({ ok }) => ok))
  return clients
}
