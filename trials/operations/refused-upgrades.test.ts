import { appendFile, cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { describeBuild } from '../../scripts/release/release.ts'
import { asRoot as test } from '../../server/testing/process/folder-for-test.ts'
import { ROOT, run } from './deploy-file.ts'
import { openMachine } from './machine-without-systemd.ts'
import { copyTree, VERSION } from './releases.ts'

const BOOTED = 'mount -t tmpfs run /run; mkdir -p /run/systemd/system'

/** A machine with an installed wall that looks as if systemd ran. */
async function openBooted() {
  const { folder, call } = await openMachine()
  /** Runs a line of shell as root. Returns what it prints. */
  const shell = async (line: string) =>
    (await call('sh -c', `exec 2>&1; ${BOOTED}; cd ${folder}; ${line}; echo "code $?"`)).out
  /** Makes an archive of a release, with its sum beside it. Returns its name without the ending. */
  const pack = async (release: string, version: string) => {
    const name = `vslukh-${version}-${process.platform}-${process.arch}`
    const put = ['--exclude=node_modules', '--transform', `s,^${release},${name},`, release]
    await run('tar', ['-czf', `${name}.tar.gz`, ...put], { cwd: folder })
    await run('sh', ['-c', `sha256sum ${name}.tar.gz > SHA256SUMS`], { cwd: folder })
    return name
  }
  return {
    folder,
    shell,
    pack,
    /** Runs `vslukh upgrade` with an archive of the release, and the package's preinst with its control files. */
    async upgrade(release: string, { version = VERSION, prepare = ':' } = {}) {
      const name = await pack(release, version)
      const control = join(folder, 'control')
      await mkdir(control, { recursive: true })
      await cp(join(ROOT, 'deploy/deb/preinst'), join(control, 'preinst'))
      for (const file of ['migrations', 'build']) {
        await cp(join(folder, release, file), join(control, file))
      }
      const archive = `/opt/vslukh/current/bin/vslukh upgrade ${name}.tar.gz --yes`
      return [
        await shell(`${prepare}; ${archive}`),
        await shell(`${prepare}; sh control/preinst upgrade 0.9.0`),
      ]
    },
  }
}

test('another build of the installed version is refused, as an archive and as a package; the same build is no error', async () => {
  const { folder, upgrade } = await openBooted()
  await cp(join(folder, 'opt/vslukh', VERSION), join(folder, 'same'), {
    recursive: true,
    verbatimSymlinks: true,
  })
  expect(await upgrade('same')).toEqual([`Версия ${VERSION} уже стоит.\ncode 1\n`, 'code 0\n'])

  await copyTree(join(folder, 'other'))
  await writeFile(join(folder, 'other/server/main.ts'), '')
  await describeBuild(join(folder, 'other'))
  for (const output of await upgrade('other')) {
    expect(output).toMatch(
      /другая сборка с тем же номером\. Ничего не изменено\. Поднимите номер.*\ncode 1\n$/,
    )
  }
})

test('with gh an archive that the release workflow did not make is refused, unless its sum is named; without gh that is stated', async () => {
  const { folder, shell, pack } = await openBooted()
  const version = '99.0.0'
  await copyTree(join(folder, 'next'), version)
  await pack('next', version)
  const archive = `vslukh-${version}-${process.platform}-${process.arch}.tar.gz`
  const dryRun = (rest = '') =>
    shell(
      `PATH=${folder}/bin:$PATH /opt/vslukh/current/bin/vslukh upgrade ${archive} --dry-run ${rest}`,
    )
  const isReady = `Версия ${VERSION} станет ${version}.\ncode 0\n`
  expect(await dryRun()).toMatch(/Проверена только сумма.*собрана не выпуском/)
  await writeFile(join(folder, 'opt/vslukh', VERSION, 'repository'), 'somebody/vslukh\n')
  expect(await dryRun()).toMatch(/Проверена только сумма.*gh здесь нет/)

  // Only GitHub can sign; this program stands for an answer of its gh.
  const gh = join(folder, 'bin/gh')
  await mkdir(join(folder, 'bin'))
  const answer = async (code: number) => {
    const lines = [
      '#!/bin/sh',
      `echo "$@" >> ${folder}/asked`,
      'case "$*" in *--help) exit 0;; esac',
    ]
    await writeFile(gh, [...lines, `echo no attestation >&2; exit ${code}`].join('\n'), {
      mode: 0o755,
    })
  }
  await answer(1)
  expect(await dryRun()).toMatch(/не подтверждено.*gh: no attestation\ncode 1\n$/s)
  const sum = (await readFile(join(folder, 'SHA256SUMS'), 'utf8')).slice(0, 64)
  expect(await dryRun(`--sha256 ${sum}`)).toContain(isReady)
  await answer(0)
  await writeFile(join(folder, 'attestation.json'), '{}')
  const verified = await dryRun()
  expect(verified).toContain('Проверено: архив собран выпуском somebody/vslukh.')
  expect(verified).toContain(isReady)
  const asked = (await readFile(join(folder, 'asked'), 'utf8')).trim().split('\n').at(-1)
  expect(asked).toMatch(
    /^attestation verify \S+release\.tar\.gz --repo somebody\/vslukh --signer-workflow somebody\/vslukh\/\.github\/workflows\/release\.yml --bundle \S+attestation\.json$/,
  )
})

test('an upgrade without room for its files or for the database is refused before anything is unpacked, with the free and the needed space', async () => {
  const { folder, shell, upgrade } = await openBooted()
  const version = '99.0.0'
  await copyTree(join(folder, 'next'), version)
  const small = 'mount -t tmpfs -o size=64m small'
  const prepare = `${small} /mnt; cp -a /opt/. /mnt; mount --bind /mnt /opt`
  for (const output of await upgrade('next', { version, prepare })) {
    expect(output).toMatch(
      /^На диске с \/opt\/vslukh свободно \d\d МиБ, а для обновления нужно 1\d\d МиБ\. Ничего не изменено.*\ncode 1\n$/,
    )
  }
  expect(await shell(`${prepare}; ls -A /opt/vslukh`)).toBe(`${VERSION}\ncurrent\ncode 0\n`)

  const settings = join(folder, 'etc/vslukh.env')
  await writeFile(settings, 'DATA_DIR=/mnt\n')
  const wall = `${small} /mnt; mkdir /mnt/postgres`
  const [, asPackage] = await upgrade('next', { version, prepare: wall })
  expect(asPackage).toContain('На диске с /mnt свободно 64 МиБ, а для обновления нужно 100 МиБ')

  const elsewhere = `${small} /var/lib; mkdir /var/lib/postgresql`
  const withDatabase = async (url: string) => {
    await writeFile(settings, `DATA_DIR=/opt/data\nBACKUP_DIR=/opt/backups\nDATABASE_URL=${url}\n`)
    return (await upgrade('next', { version, prepare: elsewhere }))[1]
  }
  expect(await withDatabase('postgresql://vslukh@localhost:5432/vslukh')).toContain(
    'На диске с /var/lib/postgresql свободно 64 МиБ, а для обновления нужно 100 МиБ',
  )
  expect(await withDatabase('postgresql://vslukh@db.example/vslukh')).toBe('code 0\n')
})

test('a wall that was stopped for its backup, which goes where its settings name, runs again if the terminal is closed meanwhile; root’s terminal gets no control characters of the log', async () => {
  const { folder, shell } = await openBooted()
  await copyTree(join(folder, 'next'), '99.0.0')
  await appendFile(join(folder, 'next/migrations'), '999-next breaking\n')
  await mkdir(join(folder, 'opt/data/postgres'), { recursive: true })
  await writeFile(join(folder, 'etc/vslukh.env'), 'DATA_DIR=/opt/data\nBACKUP_DIR=/opt/own\n')
  // In place of the command: a backup that the hang-up of its session interrupts.
  const backup = `#!/bin/sh\necho "$*" >> /opt/acts\ntrap 'exit 1' HUP\nkill -HUP 0\n`
  const command = join(folder, 'opt/vslukh', VERSION, 'bin/vslukh')
  await writeFile(command, backup)
  const systemctl = `#!/bin/sh\necho $1 >>/opt/acts\n[ $1 = is-active ] && echo active || echo 78\n`
  await writeFile(join(folder, 'opt/systemctl'), systemctl, { mode: 0o755 })
  const settings = 'PATH="/opt:$PATH" VSLUKH_WITHOUT_WAY_BACK=yes BACKUP_DIR=/root'
  const switching = `${settings} setsid --wait /opt/vslukh/current/bin/switch-release next`
  await shell(switching)
  expect(await readFile(join(folder, 'opt/acts'), 'utf8')).toBe(
    'is-active\nstop\nbackup /opt/own\nstart\n',
  )
  await writeFile(command, '#!/bin/sh\n')
  const journal = "#!/bin/sh\nprintf 'а\\033]0;б\\007\\302\\2332Jв\\n'\n"
  await writeFile(join(folder, 'opt/journalctl'), journal, { mode: 0o755 })
  expect(await shell(switching)).toContain('\nа]0;б2Jв\n')
})
