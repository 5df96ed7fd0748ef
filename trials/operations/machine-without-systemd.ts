import { spawn } from 'node:child_process'
import { appendFile, cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { mailboxForTest } from '../../server/testing/mail/mailbox.ts'
import { folderForTest } from '../../server/testing/process/folder-for-test.ts'
import { attempt, ROOT, run } from './deploy-file.ts'
import { copyTree, VERSION } from './releases.ts'

/** The DNS server of the machine. */
export const DNS = '127.0.0.77'
const DEBIANS_CADDYFILE = '# Debian’s\n:80 {\n\troot * /usr/share/caddy\n\n\tfile_server\n}\n'

/** A machine without systemd: this one with /etc, /opt and /var of its own, and an installed wall. */
export async function openMachine() {
  const folder = await folderForTest()
  const etc = join(folder, 'etc')
  await cp('/etc', etc, { recursive: true, verbatimSymlinks: true })
  const installed = join(folder, 'opt/vslukh', VERSION)
  await copyTree(installed)
  await symlink(VERSION, join(folder, 'opt/vslukh/current'))
  // Readable for the service's user too, wherever this checkout is.
  await rm(join(installed, 'node_modules'))
  await symlink('/var/node_modules', join(installed, 'node_modules'))
  for (const name of ['lib/vslukh', 'backups/vslukh', 'node_modules']) {
    await mkdir(join(folder, 'var', name), { recursive: true })
  }
  await mkdir(join(etc, 'caddy'), { recursive: true })
  await appendFile(join(etc, 'passwd'), 'vslukh:x:4321:4321::/var/lib/vslukh:/bin/false\n')
  await appendFile(join(etc, 'group'), 'vslukh:x:4321:\n')
  await writeFile(join(etc, 'resolv.conf'), `nameserver ${DNS}\n`)
  await writeFile(join(etc, 'caddy/Caddyfile'), DEBIANS_CADDYFILE)
  await run('chown', ['-R', '4321:4321', join(folder, 'var/lib/vslukh')])
  await run('chmod', ['755', folder])
  const mailbox = await mailboxForTest()
  const own = ['etc', 'opt', 'var'].map((name) => `mount --bind ${folder}/${name} /${name}`)
  const mounts = [...own, `mount --bind ${ROOT}/node_modules /var/node_modules`].join('\n')
  const inside = (line: string, ...args: string[]) => [
    '--mount',
    '/bin/sh',
    '-ec',
    `${mounts}\nexec ${line} "$@"`,
    'sh',
    ...args,
  ]
  const env = { PATH: process.env.PATH ?? '', USER: 'masha' }
  return {
    folder,
    mailbox,
    smtp: ['--smtp-url', mailbox.url],
    /** Returns the words that run a program on the machine. */
    within: (words: string[]) => ['unshare', ...inside('', ...words)],
    read: (path: string) => readFile(join(folder, path), 'utf8'),
    /** Runs a line of the shell with these arguments. Never rejects. */
    call: (line: string, ...args: string[]) => attempt('unshare', inside(line, ...args), env),
    spawn: (line: string) =>
      spawn('unshare', inside(line), { env, stdio: ['pipe', 'pipe', 'inherit'] }),
  }
}

export const SETUP = '/opt/vslukh/current/bin/vslukh setup'
