import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { findProgram } from './debian-package.ts'
import { freePort } from './free-port.ts'

/** The path of HAProxy: HAPROXY_PATH, else on PATH, else Debian's, which root gets installed. Throws where there is none. */
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
 * Puts HAProxy before nodes, given by their urls: each request goes to the next one, whoever sent it, and a node that does
 * not take connections is passed over. The caller closes it.
 */
export async function openBalancer(nodes: string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'vslukh-balancer-'))
  const port = await freePort()
  const file = join(folder, 'haproxy.cfg')
  await writeFile(file, configuration(port, nodes))
  // As a master with a worker: the worker ends with its master, however that ends.
  const master = spawn(await findBalancer(), ['-W', '-f', file], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const said: string[] = []
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>()
  createInterface({ input: master.stderr }).on('line', (line) => {
    said.push(line)
    if (line.includes('Loading success')) resolve()
  })
  master.once('exit', () => reject(new Error(said.join('\n'))))
  await ready

  return {
    url: `http://127.0.0.1:${port}`,
    async close(): Promise<void> {
      const exit = once(master, 'exit')
      master.kill()
      await exit
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function configuration(port: number, nodes: string[]): string {
  const servers = nodes.map((url, n) => `  server node${n} ${new URL(url).host} check inter 200ms`)
  return `global
  # The largest head that a node takes, and more.
  tune.bufsize 65536
defaults
  mode http
  timeout connect 1s
  timeout client 30s
  timeout server 30s
  # Only what no node has seen is sent again.
  retry-on conn-failure
  retries 3
  option redispatch 1
listen wall
  bind 127.0.0.1:${port}
  balance roundrobin
${servers.join('\n')}
`
}
