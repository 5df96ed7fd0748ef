import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { untilPrinted } from '../process/child-process.ts'
import { findProgram } from '../process/debian-package.ts'
import { freePort } from '../process/free-port.ts'

/** If it is not there, installs Debian's package for root. */
export function findBalancer(): Promise<string> {
  const paths = ['/usr/sbin/haproxy', '/usr/local/sbin/haproxy', '/usr/local/bin/haproxy']
  return findProgram(paths, 'haproxy')
}

/**
 * The input ends with this process, however that ends: nobody closes what a test file has opened
 * whose tests are all skipped. In master-worker mode the worker ends with its master.
 */
const UNTIL_INPUT_ENDS = '"$0" -W -f "$1/haproxy.cfg" & cat; kill $!; wait; rm -r "$1"'

/**
 * Each request goes to the next node in turn, and nodes that do not accept connections are skipped.
 * The caller closes HAProxy.
 */
export async function openBalancer(nodes: string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'vslukh-balancer-'))
  const port = await freePort()
  await writeFile(join(folder, 'haproxy.cfg'), configuration(port, nodes))
  const shell = spawn('sh', ['-c', UNTIL_INPUT_ENDS, await findBalancer(), folder], {
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  await untilPrinted(shell, /Loading success/)
  return {
    url: `http://127.0.0.1:${port}`,
    async close(): Promise<void> {
      const exit = once(shell, 'exit')
      shell.stdin.end()
      await exit
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
