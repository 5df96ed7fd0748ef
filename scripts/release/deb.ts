import { execFile } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const DEPLOY = join(import.meta.dirname, '../../deploy')
/** By these preinst may refuse before anything is unpacked. */
const FOR_PREINST = ['migrations', 'build']
const SCRIPTS = ['preinst', 'postinst', 'prerm', 'postrm']
const ARCHITECTURES: Record<string, string> = { x64: 'amd64', arm64: 'arm64' }

const execute = promisify(execFile)

type Deb = {
  /** The future root of the system, with the program in usr/lib/vslukh. */
  root: string
  version: string
  arch: string
  folder: string
}

/**
 * Makes a Debian package. It installs the program into /usr/lib/vslukh, and `switch-release` copies
 * that to /opt/vslukh/VERSION: dpkg deletes the previous version's files too early to go back.
 */
export async function makeDeb({ root, version, arch, folder }: Deb): Promise<string> {
  const program = join(root, 'usr/lib/vslukh')
  const install = (...args: string[]) => execute('install', args)
  const service = join(root, 'lib/systemd/system/vslukh.service')
  await install('-Dm644', join(DEPLOY, 'vslukh.service'), service)
  const completion = join(root, 'usr/share/bash-completion/completions/vslukh')
  await install('-Dm644', join(program, 'deploy/vslukh.bash-completion'), completion)
  await mkdir(join(root, 'usr/bin'))
  await symlink('/opt/vslukh/current/bin/vslukh', join(root, 'usr/bin/vslukh'))
  // Sets the modes, which would otherwise follow the builder's umask.
  await execute('chmod', ['-R', 'u=rwX,go=rX', root])

  const architecture = ARCHITECTURES[arch] ?? arch
  const { stdout: size } = await execute('du', ['-sk', root])
  const control = join(root, 'DEBIAN')
  await mkdir(control, { mode: 0o755 })
  await install('-m644', ...FOR_PREINST.map((name) => join(program, name)), control)
  await install('-m755', ...SCRIPTS.map((name) => join(DEPLOY, 'deb', name)), control)
  await writeFile(
    join(control, 'control'),
    `Package: vslukh
Version: ${version.replaceAll('-', '~')}
Architecture: ${architecture}
Maintainer: Вслух
Installed-Size: ${Number.parseInt(size, 10)}
Depends: caddy | nginx, ca-certificates, iproute2, libatomic1, libc6 (>= 2.28), libstdc++6, passwd, postgresql (>= 15)
Recommends: unattended-upgrades
Section: web
Priority: optional
Description: wall of short text posts in Russian
 The server with its own Node, on Debian's PostgreSQL. After the installation: vslukh setup
`,
  )
  const file = join(folder, `vslukh_${version}_${architecture}.deb`)
  // Higher levels of xz take minutes.
  await execute('dpkg-deb', ['--root-owner-group', '-Zxz', '-z2', '--build', root, file])
  return file
}
