import { execFile, spawn } from 'node:child_process'
import { appendFile, cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { folderForTest } from '../../server/testing/folder-for-test.ts'
import { openMailbox } from '../../server/testing/mailbox.ts'
import { ROOT, run } from './deploy-file.ts'

/** The DNS server of the machine. */
export const DNS = '127.0.0.77'
const DEBIANS_CADDYFILE = '# Debian’s\n:80 {\n\troot * /usr/share/caddy\n\n\tfile_server\n}\n'

/** A machine without systemd: this one with /etc, /opt and /var of its own. */
export async function openMachine() {
  const folder = await folderForTest()
  const etc = join(folder, 'etc')
  await cp('/etc', etc, { recursive: true, verbatimSymlinks: true })
  for (const name of ['opt/vslukh/current', 'var/lib/vslukh', 'var/backups/vslukh']) {
    await mkdir(join(folder, name), { recursive: true })
  }
  await mkdir(join(etc, 'caddy'), { recursive: true })
  await appendFile(join(etc, 'passwd'), 'vslukh:x:4321:4321::/var/lib/vslukh:/bin/false\n')
  await appendFile(join(etc, 'group'), 'vslukh:x:4321:\n')
  await writeFile(join(etc, 'resolv.conf'), `nameserver ${DNS}\n`)
  await writeFile(join(etc, 'caddy/Caddyfile'), DEBIANS_CADDYFILE)
  await run('chown', ['-R', '4321:4321', join(folder, 'var/lib/vslukh')])
  await run('chmod', ['755', folder])
  const mailbox = await openMailbox()
  onTestFinished(() => mailbox.close())
  const binds = ['etc', 'opt', 'var'].map((name) => `mount --bind ${folder}/${name} /${name}`)
  const inside = (line: string, ...args: string[]) => {
    const mounts = [...binds, `mount --bind ${ROOT} /opt/vslukh/current`, `exec ${line} "$@"`]
    return ['--mount', '/bin/sh', '-ec', mounts.join('\n'), 'sh', ...args]
  }
  const env = { PATH: process.env.PATH ?? '', USER: 'masha' }
  return {
    folder,
    mailbox,
    smtp: ['--smtp-url', mailbox.url],
    read: (path: string) => readFile(join(folder, path), 'utf8'),
    /** Runs a line of the shell with these arguments. Never rejects. */
    call: (line: string, ...args: string[]) =>
      new Promise<{ code: number; out: string; err: string }>((resolve) => {
        execFile('unshare', inside(line, ...args), { env }, (error, out, err) =>
          resolve({ code: Number(error?.code ?? 0), out, err }),
        )
      }),
    spawn: (line: string) =>
      spawn('unshare', inside(line), { env, stdio: ['pipe', 'pipe', 'inherit'] }),
  }
}

export const SETUP = '/opt/vslukh/current/bin/vslukh setup'
