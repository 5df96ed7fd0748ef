import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { describeBuild } from '../../scripts/release.ts'
import { folderForTest } from '../../server/testing/folder-for-test.ts'
import { ROOT, run, asRoot as test } from './deploy-file.ts'
import { copyTree } from './releases.ts'

const { version: VERSION } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))

/** A machine whose /opt and /etc are its own, with this version installed in it. */
async function openMachine() {
  const folder = await folderForTest()
  await run('chmod', ['755', folder])
  const opt = join(folder, 'opt')
  await copyTree(join(opt, 'vslukh', VERSION))
  await symlink(VERSION, join(opt, 'vslukh/current'))
  await cp('/etc', join(folder, 'etc'), { recursive: true, verbatimSymlinks: true })
  const own = `mount --bind ${opt} /opt; mount --bind ${folder}/etc /etc`
  const mounts = `${own}; mount -t tmpfs run /run; mkdir -p /run/systemd/system`
  /** Runs a line of shell as root. Returns what it prints. */
  const shell = (line: string) =>
    new Promise<string>((resolve) => {
      const script = `${mounts}; exec 2>&1; cd ${folder}; ${line}; echo "code $?"`
      execFile('unshare', ['--mount', '/bin/sh', '-c', script], (_error, out) => resolve(out))
    })
  return {
    folder,
    shell,
    /** Runs `vslukh upgrade` with an archive of the release, and the package's preinst with its control files. */
    async upgrade(release: string, { version = VERSION, prepare = ':' } = {}) {
      const name = `vslukh-${version}-${process.platform}-${process.arch}`
      const put = ['--exclude=node_modules', '--transform', `s,^${release},${name},`, release]
      await run('tar', ['-czf', `${name}.tar.gz`, ...put], { cwd: folder })
      await run('sh', ['-c', `sha256sum ${name}.tar.gz > SHA256SUMS`], { cwd: folder })
      const control = join(folder, 'control')
      await mkdir(control, { recursive: true })
      await cp(join(ROOT, 'deploy/deb/preinst'), join(control, 'preinst'))
      for (const file of ['migrations', 'build']) {
        await cp(join(folder, release, file), join(control, file))
      }
      const archive = `/opt/vslukh/current/bin/vslukh upgrade ${name}.tar.gz --yes`
      const outputs: string[] = []
      for (const line of [archive, 'sh control/preinst upgrade 0.9.0']) {
        outputs.push(await shell(`${prepare}; ${line}`))
      }
      return outputs
    },
  }
}

test('another build of the installed version is refused, as an archive and as a package; the same build is no error', async () => {
  const { folder, upgrade } = await openMachine()
  await cp(join(folder, 'opt/vslukh', VERSION), join(folder, 'same'), {
    recursive: true,
    verbatimSymlinks: true,
  })
  const [asArchive, asPackage] = await upgrade('same')
  expect(asArchive).toBe(`Версия ${VERSION} уже стоит.\ncode 1\n`)
  expect(asPackage).toBe('code 0\n')

  await copyTree(join(folder, 'other'))
  await writeFile(join(folder, 'other/server/main.ts'), '')
  await describeBuild(join(folder, 'other'))
  for (const output of await upgrade('other')) {
    expect(output).toMatch(/другая сборка с тем же номером\. Ничего не изменено\. Поднимите номер/)
    expect(output).toMatch(/code 1\n$/)
  }
})

test('an upgrade without room for its files or for the database is refused before anything is unpacked, with the free and the needed space', async () => {
  const { folder, shell, upgrade } = await openMachine()
  const version = '99.0.0'
  await copyTree(join(folder, 'next'), version)
  const small = 'mount -t tmpfs -o size=64m small /mnt'
  const prepare = `${small}; cp -a /opt/. /mnt; mount --bind /mnt /opt`
  for (const output of await upgrade('next', { version, prepare })) {
    const said =
      /^На диске с \/opt\/vslukh свободно \d\d МиБ, а для обновления нужно 1\d\d МиБ\. Ничего не изменено/
    expect(output).toMatch(said)
    expect(output).toMatch(/code 1\n$/)
  }
  expect(await shell(`${prepare}; ls -A /opt/vslukh`)).toBe(`${VERSION}\ncurrent\ncode 0\n`)

  await writeFile(join(folder, 'etc/vslukh.env'), 'DATA_DIR=/mnt\n')
  const wall = `${small}; mkdir /mnt/postgres`
  const [, asPackage] = await upgrade('next', { version, prepare: wall })
  expect(asPackage).toContain('На диске с /mnt свободно 64 МиБ, а для обновления нужно 100 МиБ')

  const elsewhere = 'mount -t tmpfs -o size=64m small /var/lib; mkdir /var/lib/postgresql'
  const withDatabase = async (url: string) => {
    const settings = `DATA_DIR=/opt/data\nBACKUP_DIR=/opt/backups\nDATABASE_URL=${url}\n`
    await writeFile(join(folder, 'etc/vslukh.env'), settings)
    return (await upgrade('next', { version, prepare: elsewhere }))[1]
  }
  expect(await withDatabase('postgresql://vslukh@localhost:5432/vslukh')).toContain(
    'На диске с /var/lib/postgresql свободно 64 МиБ, а для обновления нужно 100 МиБ',
  )
  expect(await withDatabase('postgresql://vslukh@db.example/vslukh')).toBe('code 0\n')
})
