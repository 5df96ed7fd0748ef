import { cp, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeBashCompletion } from '../../scripts/bash-completion.ts'
import { makeRelease } from '../../scripts/release.ts'
import { folderForTest } from '../../server/testing/folder-for-test.ts'
import { freePort } from '../../server/testing/free-port.ts'
import { runCommand } from '../../server/testing/run-command.ts'
import { bootDebian } from './debian-machine.ts'
import { asRoot, run } from './deploy-file.ts'
import { addMigration, breakStart, repackDeb } from './releases.ts'

const APT = 'DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends'
const SERVES = `curl -fsS -o /dev/null http://127.0.0.1`

asRoot(
  'on a bare Debian the package is installed, goes back by itself from a version that does not start, moves to Debian’s PostgreSQL, is upgraded by an archive, and leaves the wall when it is purged',
  {
    timeout: 900_000,
  },
  async ({ annotate }) => {
    const folder = await folderForTest()
    const deb = await makeRelease(folder, { isDeb: true })
    const { root, shell, isUp } = await bootDebian()
    await expect.poll(isUp, { timeout: 60_000 }).toBe(true)
    const timed = async (what: string, line: string) => {
      const since = performance.now()
      const result = await shell(line)
      await annotate(`${what}: ${((performance.now() - since) / 1000).toFixed(1)} s`)
      return result
    }
    const into = join(root, 'srv')
    await cp(deb, join(into, 'first.deb'))
    const { version } = JSON.parse((await runCommand({}, '--version', '--json')).out)

    const installed = await timed('install', `apt-get update -qq && ${APT} curl /srv/first.deb`)
    expect(installed, installed.out).toMatchObject({ code: 0 })
    expect(installed.out).toContain('Дальше: vslukh setup wall.example')
    expect((await shell('systemctl is-active vslukh; systemctl is-enabled vslukh')).out).toBe(
      'inactive\nenabled\n',
    )
    expect((await shell('stat -c "%a %U %G" /etc/vslukh.env; id -un vslukh')).out).toBe(
      '640 root vslukh\nvslukh\n',
    )
    const port = await freePort()
    await shell(`printf 'PORT=${port}\\n' >>/etc/vslukh.env && systemctl start vslukh`)
    const serves = async () => (await shell(`${SERVES}:${port}/readyz`)).code === 0
    await expect.poll(serves, { timeout: 60_000 }).toBe(true)
    expect(await shell('vslukh notice "До обновления"')).toMatchObject({ code: 0 })
    const moved = await timed('move', 'vslukh move-database --yes')
    expect(moved, moved.out).toMatchObject({ code: 0 })
    expect(moved.out).toMatch(/\nСтена теперь в postgresql:.*rm -r \/var\/lib\/vslukh\/postgres\n$/)
    expect(await serves()).toBe(true)
    expect((await shell('vslukh notice')).out).toContain('До обновления')
    const runs = async () => (await shell('readlink /opt/vslukh/current')).out.trim()

    const breaking = async (program: string) => {
      await addMigration(program, { isAdditive: false })
      await breakStart(program)
    }
    await rename(await repackDeb(deb, folder, breaking), join(into, 'broken.deb'))
    const refused = await shell(`${APT} /srv/broken.deb`)
    expect(refused, refused.out).toMatchObject({ code: 100 })
    expect(refused.out).toMatch(/прежняя с базой данных не работает \(999-next\)/)
    expect((await shell('dpkg -s vslukh')).out).toContain('Status: install ok installed')
    const agreed = await timed('back', `VSLUKH_WITHOUT_WAY_BACK=yes ${APT} /srv/broken.deb`)
    expect(agreed, agreed.out).toMatchObject({ code: 100 })
    expect(agreed.out).toContain('broken after its migrations')
    expect(agreed.out).toContain(`Снова работает версия ${version}.`)
    expect(await runs()).toBe(version)
    expect(await serves()).toBe(true)
    expect((await shell('vslukh notice')).out).toContain('До обновления')
    const again = await shell('dpkg --configure -a')
    expect(again.out).toContain('Обновление уже не удалось')
    expect(again.out).toContain('dpkg -i /srv/broken.deb')
    expect(await shell(`${APT} --allow-downgrades /srv/first.deb`)).toMatchObject({ code: 0 })

    const name = `vslukh-99.0.0-linux-${process.arch}`
    await run('dpkg-deb', ['-x', deb, join(folder, 'next')])
    await rename(join(folder, 'next/usr/lib/vslukh'), join(folder, name))
    await addMigration(join(folder, name), { isAdditive: true })
    await run('tar', ['-czf', join(into, `${name}.tar.gz`), '-C', folder, name])
    const upgrade = `vslukh upgrade /srv/${name}.tar.gz`
    expect((await shell(upgrade)).out).toContain('Нечем проверить')
    expect((await shell(`${upgrade} --sha256 ${'0'.repeat(64)}`)).out).toContain('SHA-256 не та')
    await shell('cd /srv && sha256sum *.tar.gz > SHA256SUMS')
    expect((await shell(`${upgrade} --dry-run`)).out).toContain(`Версия ${version} станет 99.0.0.`)
    expect(await runs()).toBe(version)
    const upgraded = await timed('upgrade', `${upgrade} --yes`)
    expect(upgraded, upgraded.out).toMatchObject({ code: 0 })
    expect(upgraded.out).toContain('Копия: /var/backups/vslukh/vslukh-')
    expect(await runs()).toBe('99.0.0')
    expect(await serves()).toBe(true)
    expect((await shell('ls /opt/vslukh')).out).toBe(`${version}\n99.0.0\ncurrent\n`)
    expect((await shell('vslukh status')).out).toContain('99.0.0, узлов: 1')

    expect(await timed('remove', 'apt-get remove -y -qq vslukh')).toMatchObject({ code: 0 })
    expect(await serves()).toBe(false)
    expect((await shell('ls -A /opt')).out).toBe('')
    expect((await shell('ls /var/lib/vslukh /etc/vslukh.env')).out).toContain('app-secret')
    const purged = await shell('apt-get purge -y -qq vslukh </dev/null')
    expect(purged.out).toContain('Удалить их: rm -r /var/lib/vslukh')
    expect(await shell('test -d /var/lib/vslukh/postgres')).toMatchObject({ code: 0 })
  },
)

test('bash completes every command of the program, and its options and words', async () => {
  const folder = await folderForTest()
  await writeFile(join(folder, 'vslukh'), await makeBashCompletion())
  const complete = async (...words: string[]) => {
    const line = `. ./vslukh; COMP_WORDS=(vslukh "$@"); COMP_CWORD=$#; _vslukh vslukh "\${@: -1}"; echo "\${COMPREPLY[*]}"`
    return (await run('bash', ['-c', line, 'bash', ...words], { cwd: folder })).stdout.trim()
  }
  const { commands } = JSON.parse((await runCommand({}, '--help', '--json')).out)
  const names = commands.map(({ name }: { name: string }) => name)
  expect((await complete('')).split(' ')).toEqual([...names, 'help'])
  expect(await complete('rec')).toBe('recount')
  expect(await complete('report', '12', '--bl')).toBe('--block-days')
  expect(await complete('ban', 'r')).toBe('remove')
  expect(await complete('status', '--j')).toBe('--json')
  expect(await complete('verify', 'some')).toBe('')
})
