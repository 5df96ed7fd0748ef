import { spawn } from 'node:child_process'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { endChild, untilPrinted } from '../../server/testing/child-process.ts'
import { findProgram } from '../../server/testing/debian-package.ts'
import { folderForTest } from '../../server/testing/folder-for-test.ts'
import { ROOT } from './deploy-file.ts'

let servers = 0

/**
 * Starts a DNS server that knows these TXT records. Returns the folder of an installation whose
 * `bin/vslukh` takes it for the machine's own (resolv.conf(5) names no port), as only root can.
 */
export async function installationWithDns(records: Record<string, string>): Promise<string> {
  const program = await findProgram(['/usr/sbin/dnsmasq'], {
    debianPackage: 'dnsmasq-base',
    advice: 'This test asks a DNS server of its own: install dnsmasq (Debian: dnsmasq-base)',
  })
  const address = `127.77.${process.pid % 256}.${++servers}`
  const texts = Object.entries(records).map(([name, text]) => `--txt-record=${name},${text}`)
  const place = [`--listen-address=${address}`, '--bind-interfaces', '--user=root']
  const own = ['--keep-in-foreground', '--conf-file=/dev/null', '--no-resolv', '--local=/test/']
  const server = spawn(program, [...own, '--log-facility=-', ...place, ...texts], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  onTestFinished(() => endChild(server))
  await untilPrinted(server, /./)
  const folder = await folderForTest()
  await mkdir(join(folder, 'bin'))
  await writeFile(join(folder, 'resolv.conf'), `nameserver ${address}\n`)
  const seen = `mount --bind ${folder}/resolv.conf /etc/resolv.conf && exec ${ROOT}/bin/vslukh "$@"`
  await writeFile(
    join(folder, 'bin/vslukh'),
    `#!/bin/sh\nexec unshare --mount sh -c '${seen}' sh "$@"\n`,
  )
  await chmod(join(folder, 'bin/vslukh'), 0o755)
  return folder
}
