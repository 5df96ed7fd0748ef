import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { endChild, untilPrinted } from './child-process.ts'
import { findProgram } from './debian-package.ts'
import { freePort } from './free-port.ts'

/** Looks for HAPROXY_PATH and on PATH, and else installs Debian's package for root. */
export function findBalancer(): Promise<string> {
  return findProgram(usualPaths(), {
    debianPackage: 'haproxy',
    advice: 'No haproxy found: install it, or set HAPROXY_PATH to one',
  })
}

function usualPaths(): string[] {
  const named = process.env.HAPROXY_PATH
  if (named) return [named]
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/sbin']
  return folders.filter(Boolean).map((folder) => join(folder, 'haproxy'))
}

/**
 * Each request goes to the next node in turn, and nodes that do not accept connections are skipped.
 * The caller closes HAProxy.
 */
export async function openBalancer(nodes: string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'vslukh-balancer-'))
  const port = await freePort()
  const file = join(folder, 'haproxy.cfg')
  await writeFile(file, configuration(port, nodes))
  // In master-worker mode the worker ends with its master, even when that is killed.
  const master = spawn(await findBalancer(), ['-W', '-f', file], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await untilPrinted(master, /Loading success/)
  return {
    url: `http://127.0.0.1:${port}`,
    async close(): Promise<void> {
      await endChild(master)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function configuration(port: number, nodes: string[]): string {
  const servers = nodes.map((url, n) => `  server node${n} ${new URL(url).host} check inter 200ms`)
  return `global
  # More than the largest request head that a node accepts.
  tune.bufsize 65536
defaults
  mode http
  timeout connect 1s
  timeout client 30s
  timeout server 30s
  # Only requests that no node has received are sent again.
  retry-on conn-failure
  retries 3
  option redispatch 1
listen wall
  bind 127.0.0.1:${port}
  balance roundrobin
${servers.join('\n')}
`
}
