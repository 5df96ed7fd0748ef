import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { makeDeb } from '../../scripts/deb.ts'
import { folderForTest } from '../../server/testing/folder-for-test.ts'
import { ROOT, run, asRoot as test } from './deploy-file.ts'
import { copyTree } from './releases.ts'

/** What is written to this machine's root is gone when the program ends. */
const FORGETFUL = `mount -t tmpfs own /mnt && mkdir /mnt/up /mnt/work /mnt/root
mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/up,workdir=/mnt/work /mnt/root
mount -t proc proc /mnt/root/proc && mount --bind /dev /mnt/root/dev
exec chroot /mnt/root sh -c "$1"`

/** Runs each line of shell in the same forgetful machine. Returns what each prints. */
async function runThere(lines: string[]): Promise<string[]> {
  const script = lines.map((line) => `${line}; printf '\\0'`).join('\n')
  const namespaces = ['--mount', '--pid', '--fork']
  const args = ['sh', '-c', FORGETFUL, 'sh', `exec 2>&1; export LC_ALL=C.UTF-8; ${script}`]
  return (await run('unshare', [...namespaces, ...args])).stdout.split('\0')
}

async function makePackage(folder: string, name: string, version: string): Promise<string> {
  const root = join(folder, name)
  const program = join(root, 'usr/lib/vslukh')
  await copyTree(program, version)
  await cp(join(ROOT, 'deploy'), join(program, 'deploy'), { recursive: true })
  await writeFile(join(program, 'deploy/vslukh.bash-completion'), name)
  return makeDeb({ root, version, arch: process.arch, folder })
}

test('after a failed upgrade dpkg names the command that tries again, goes on if the operator agrees, and names a unit that hides the package’s', async () => {
  const folder = await folderForTest()
  const [first, second] = [
    await makePackage(folder, 'first', '90.0.0'),
    await makePackage(folder, 'second', '99.0.0'),
  ]
  const unit = '/etc/systemd/system/vslukh.service'
  // No backup can be made, so no upgrade begins.
  const lostWall = 'DATABASE_URL=postgres://nobody@127.0.0.1:1/none\\nAPP_SECRET=%032d\\n'
  const [fresh, hidden, failed, again, agreed] = await runThere([
    `dpkg --force-depends -i ${first}`,
    `mkdir -p ${unit}.d && touch ${unit} && dpkg --force-depends -i ${first}`,
    `printf '${lostWall}' 1 >/etc/vslukh.env; cd ${folder}; dpkg --force-depends -i ./*99.0.0*.deb`,
    'dpkg --force-depends --configure vslukh',
    'VSLUKH_WITHOUT_WAY_BACK=yes dpkg --force-depends --configure vslukh',
  ])
  expect(fresh).toContain('Дальше: vslukh setup')
  expect(fresh).not.toContain(unit)
  expect(hidden).toContain(`${unit} действует вместо файла службы из пакета`)
  expect(failed).toContain('обновление не начато')
  expect(again).toContain(
    `Обновление уже не удалось, и работает прежняя версия. Попробовать снова: dpkg -i ${second};`,
  )
  expect(agreed).toContain('обновление не начато')
})
