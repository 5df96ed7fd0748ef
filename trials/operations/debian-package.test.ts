import { copyFile, cp, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeBashCompletion } from '../../scripts/release/bash-completion.ts'
import { makeRelease } from '../../scripts/release/release.ts'
import { asRoot, folderForTest } from '../../server/testing/process/folder-for-test.ts'
import { freePort } from '../../server/testing/process/free-port.ts'
import { runCommand } from '../../server/testing/process/run-command.ts'
import { bootDebian } from './debian-machine.ts'
import { run } from './deploy-file.ts'
import { addMigration, type Edit, edit, repackDeb } from './releases.ts'

const APT = 'DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends'
const SERVES = `curl -fsS -o /dev/null http://127.0.0.1`

/** Lets a release migrate the database and then end before it listens, at every start. */
const BROKEN_START: Edit[] = [
  ['  const address = await app', "  throw new Error('broken after its migrations')\n$&"],
]
/** Faults of a release that last: the file, its edits, and what is printed on the way back. */
const FAULTS: [file: string, edits: Edit[], printed: string][] = [
  [
    // As if another node had a later version than both.
    'kernel/http/health.ts',
    [['  onBroken\\(broken\\)', "  broken.push('900-later')\n$&"]],
    'Версия 99.0.0 не заработала (База новее этого сервера: в ней есть 900-later)',
  ],
  [
    'kernel/config/config.ts',
    [['  requireOneWayOfMail\\(', "  throw new ConfigError('PORT: больше не задают')\n$&"]],
    '\nPORT: больше не задают\n',
  ],
]

asRoot(
  'on a bare Debian the package is installed, goes back by itself from a version that does not work, moves to Debian’s PostgreSQL, is upgraded by an archive, and leaves the wall when it is purged',
  {
    timeout: 900_000,
  },
  async () => {
    const folder = await folderForTest()
    const deb = await makeRelease(folder, { isDeb: true })
    const { root, shell, done } = await bootDebian()
    const outOf = async (line: string) => (await shell(line)).out
    const into = join(root, 'srv')
    await cp(deb, join(into, 'first.deb'))
    const { version } = JSON.parse((await runCommand({}, '--version', '--json')).out)

    const installed = await done(`apt-get update -qq && ${APT} curl /srv/first.deb`)
    expect(installed).toContain('Дальше: vslukh setup wall.example')
    expect(installed).not.toContain('действует вместо')
    expect(await outOf('systemctl is-active vslukh; systemctl is-enabled vslukh')).toBe(
      'inactive\nenabled\n',
    )
    expect(await outOf('stat -c "%a %U %G" /etc/vslukh.env; id -un vslukh')).toBe(
      '640 root vslukh\nvslukh\n',
    )
    const port = await freePort()
    await done(`printf 'PORT=${port}\\n' >>/etc/vslukh.env && systemctl start vslukh`)
    const serves = async () => (await shell(`${SERVES}:${port}/readyz`)).code === 0
    await expect.poll(serves, { timeout: 60_000 }).toBe(true)
    await done('vslukh notice "До обновления"')
    expect(await done('vslukh move-database --yes')).toMatch(
      /\nСтена теперь в postgresql:.*rm -r \/var\/lib\/vslukh\/postgres\n$/,
    )
    const expectWall = async (runs: string) => {
      expect(await serves()).toBe(true)
      expect(await outOf('vslukh notice')).toContain('До обновления')
      expect(await outOf('readlink /opt/vslukh/current')).toBe(`${runs}\n`)
    }
    await expectWall(version)

    const breaking = async (program: string) => {
      await addMigration(program, { isAdditive: false })
      await edit(join(program, 'server/main.ts'), BROKEN_START)
    }
    await rename(await repackDeb(deb, folder, breaking), join(into, 'broken.deb'))
    const refused = await shell(`${APT} /srv/broken.deb`)
    expect(refused, refused.out).toMatchObject({ code: 100 })
    expect(refused.out).toMatch(/прежняя с базой данных не работает \(999-next\)/)
    expect(await outOf('dpkg -s vslukh')).toContain('Status: install ok installed')
    const expectBack = async (line: string, printed: string) => {
      const since = performance.now()
      const { code, out } = await shell(`VSLUKH_WITHOUT_WAY_BACK=yes ${line}`)
      expect(code, out).not.toBe(0)
      expect(out).toContain(printed)
      expect(out).toContain(`Снова работает версия ${version}.`)
      await expectWall(version)
      return performance.now() - since
    }
    await expectBack(`${APT} /srv/broken.deb`, 'broken after its migrations')
    const again = await outOf('dpkg --configure -a')
    expect(again).toContain('Обновление уже не удалось')
    expect(again).toContain('dpkg -i /srv/broken.deb')
    const program = join(root, 'usr/lib/vslukh/server')
    await copyFile(join(root, 'opt/vslukh/current/server/main.ts'), join(program, 'main.ts'))
    for (const [file, edits, printed] of FAULTS) {
      await edit(join(program, file), edits)
      expect(await expectBack('dpkg --configure vslukh', printed)).toBeLessThan(60_000)
    }
    const unit = '/etc/systemd/system/vslukh.service'
    await done(`cp /lib/systemd/system/vslukh.service ${unit}`)
    expect(await done(`${APT} --allow-downgrades /srv/first.deb`)).toContain(
      `${unit} действует вместо файла службы из пакета`,
    )
    await done(`rm ${unit}; systemctl daemon-reload`)

    const name = `vslukh-99.0.0-linux-${process.arch}`
    await run('dpkg-deb', ['-x', deb, join(folder, 'next')])
    await rename(join(folder, 'next/usr/lib/vslukh'), join(folder, name))
    await addMigration(join(folder, name), { isAdditive: true })
    await run('tar', ['-czf', join(into, `${name}.tar.gz`), '-C', folder, name])
    const upgrade = `vslukh upgrade /srv/${name}.tar.gz`
    expect(await outOf(upgrade)).toContain('Нечем проверить')
    expect(await outOf(`${upgrade} --sha256 ${'0'.repeat(64)}`)).toContain('SHA-256 не та')
    await done('cd /srv && sha256sum *.tar.gz > SHA256SUMS')
    expect(await done(`${upgrade} --dry-run`)).toContain(`Версия ${version} станет 99.0.0.`)
    await expectWall(version)
    expect(await done(`${upgrade} --yes`)).toContain('Копия: /var/backups/vslukh/vslukh-')
    await expectWall('99.0.0')
    expect(await outOf('ls /opt/vslukh')).toBe(`${version}\n99.0.0\ncurrent\n`)
    expect(await outOf('vslukh status')).toContain('99.0.0, узлов: 1')

    await done('apt-get remove -y -qq vslukh')
    expect(await serves()).toBe(false)
    expect(await outOf('ls -A /opt')).toBe('')
    expect(await outOf('ls /var/lib/vslukh /etc/vslukh.env')).toContain('app-secret')
    expect(await outOf('apt-get purge -y -qq vslukh </dev/null')).toContain(
      'Удалить их: rm -r /var/lib/vslukh',
    )
    await done('test -d /var/lib/vslukh/postgres')
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
