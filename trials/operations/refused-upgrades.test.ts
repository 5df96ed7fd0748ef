import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeBuild } from '../../scripts/release.ts'
import { isRoot } from '../../server/testing/debian-package.ts'
import { folderForTest } from '../../server/testing/folder-for-test.ts'
import { ROOT, run } from './deploy-file.ts'

const PARTS = ['bin', 'scripts', 'server', 'operator', 'contract', 'package.json']
const { version: VERSION } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))

/** Makes a release of what the commands need. */
async function makeRelease(release: string, version = VERSION): Promise<void> {
  await mkdir(release, { recursive: true })
  for (const part of PARTS) await cp(join(ROOT, part), join(release, part), { recursive: true })
  const text = await readFile(join(release, 'package.json'), 'utf8')
  await writeFile(join(release, 'package.json'), text.replace(VERSION, version))
  await writeFile(join(release, 'migrations'), '001-schema breaking\n')
  await describeBuild(release)
  await symlink(join(ROOT, 'node_modules'), join(release, 'node_modules'))
}

/** A machine whose /opt is its own, with this version installed in it. */
async function openMachine() {
  const folder = await folderForTest()
  await run('chmod', ['755', folder])
  const opt = join(folder, 'opt')
  await makeRelease(join(opt, 'vslukh', VERSION))
  await symlink(VERSION, join(opt, 'vslukh/current'))
  const mounts = `mount --bind ${opt} /opt; mount -t tmpfs run /run; mkdir -p /run/systemd/system`
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
    async upgrade(release: string, prepare = ':') {
      const name = `vslukh-${VERSION}-${process.platform}-${process.arch}`
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

test('another build of the installed number is refused, as an archive and as a package; the same build is no fault', {
  timeout: 240_000,
}, async ({ skip }) => {
  skip(!isRoot, 'only root may mount')
  const { folder, upgrade } = await openMachine()
  await cp(join(folder, 'opt/vslukh', VERSION), join(folder, 'same'), {
    recursive: true,
    verbatimSymlinks: true,
  })
  const [asArchive, asPackage] = await upgrade('same')
  expect(asArchive).toBe(`Версия ${VERSION} уже стоит.\ncode 1\n`)
  expect(asPackage).toBe('code 0\n')

  await makeRelease(join(folder, 'other'))
  await writeFile(join(folder, 'other/server/main.ts'), '')
  await describeBuild(join(folder, 'other'))
  for (const output of await upgrade('other')) {
    expect(output).toMatch(/другая сборка с тем же номером\. Ничего не изменено\. Поднимите номер/)
    expect(output).toMatch(/code 1\n$/)
  }
})
