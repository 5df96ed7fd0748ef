import { spawn } from 'node:child_process'
import { onTestFinished } from 'vitest'
import { endChild, untilPrinted } from '../process/child-process.ts'
import { findProgram } from '../process/debian-package.ts'

/** Starts a DNS server for one test, which knows only what these options of dnsmasq name. */
export async function openDns(...options: string[]): Promise<void> {
  const program = await findProgram(['/usr/sbin/dnsmasq'], 'dnsmasq-base')
  const own = ['--keep-in-foreground', '--conf-file=/dev/null', '--no-resolv', '--no-hosts']
  const place = ['--bind-interfaces', '--log-facility=-', '--user=root']
  const server = spawn(program, [...own, ...place, ...options], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  onTestFinished(() => endChild(server))
  await untilPrinted(server, /./)
}
