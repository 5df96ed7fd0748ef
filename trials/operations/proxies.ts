import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, readFile, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { onTestFinished } from 'vitest'
import { readIfExists } from '../../server/kernel/config/read-if-exists.ts'
import { findBalancer } from '../../server/testing/http/balancer.ts'
import { certificateForTest } from '../../server/testing/http/certificate.ts'
import { endChild, untilUp } from '../../server/testing/process/child-process.ts'
import { findNginx, isRoot } from '../../server/testing/process/debian-package.ts'
import { folderForTest } from '../../server/testing/process/folder-for-test.ts'
import { freePort } from '../../server/testing/process/free-port.ts'
import { copyDeployFile, programOf } from './deploy-file.ts'

/** `pem` is the path of a certificate with its key. */
type Settings = {
  folder: string
  httpPort: number
  httpsPort: number
  nodes: string[]
  pem: string
}

/** Each prepares a proxy by its file of deploy/, and returns the command that runs it. */
const PROXIES = { nginx, Caddy: caddy, HAProxy: haproxy }
export type ProxyName = keyof typeof PROXIES

/** A former name of the wall, for nginx and Caddy. The certificate names only localhost. */
export const FORMER_NAME = 'former.localhost'

type Sent = {
  method?: string
  headers?: Record<string, string>
  body?: object
  /** The loopback address to call from. */
  from?: string
  /** Another name of the proxy, whose certificate is not checked. */
  name?: string
}

/**
 * Starts a proxy before these nodes, until the end of the test. Resolves when it accepts connections.
 * This process trusts its certificate.
 */
export async function startProxy(name: ProxyName, nodes: string[], port?: number) {
  const folder = await folderForTest()
  const [httpPort, httpsPort] = [await freePort(), port ?? (await freePort())]
  const { key, cert } = await certificateForTest(2)
  const pem = join(folder, 'both.pem')
  await writeFile(pem, Buffer.concat([key, cert]))
  const prepared = await PROXIES[name]({ folder, httpPort, httpsPort, nodes, pem })
  const [program = '', ...args] = prepared
  const proxy = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  onTestFinished(() => endChild(proxy))
  let printed = ''
  proxy.stderr.on('data', (data) => {
    printed += data
  })
  setDefaultCACertificates([...getCACertificates(), cert.toString()])
  const httpUrl = `http://127.0.0.1:${httpPort}`
  await untilUp(proxy, () => fetch(httpUrl, { redirect: 'manual' }).then(() => true))
  const url = `https://localhost:${httpsPort}`
  return {
    url,
    httpPort,

    /** Resolves to all that the proxy has logged. */
    async log(): Promise<string> {
      const files = ['access.log', 'error.log'].map((name) => readIfExists(join(folder, name)))
      return [printed, ...(await Promise.all(files))].join('')
    },

    /** Calls the proxy over TLS, with its certificate verified. */
    async call(
      path: string,
      { method = 'GET', headers = {}, body, from = '127.0.0.1', name }: Sent = {},
    ) {
      const sent = request(url + path, {
        ...{ method, family: 4, localAddress: from, agent: false },
        ...(name && { servername: name, rejectUnauthorized: false }),
        headers: {
          ...(name && { host: name }),
          ...(body && { 'content-type': 'application/json' }),
          ...headers,
        },
      })
      sent.end(body && JSON.stringify(body))
      const [answer] = (await once(sent, 'response')) as [IncomingMessage]
      const { headers: received, statusCode: status = 0 } = answer
      return { status, headers: received, body: await buffer(answer) }
    },
  }
}

async function nginx({ folder, httpPort, httpsPort, nodes, pem }: Settings): Promise<string[]> {
  const site = await copyDeployFile('nginx.conf', folder, [
    ['/var/lib/nginx/vslukh', join(folder, 'cache')],
    ['/var/log/nginx', folder],
    ['127.0.0.1:3000', nodes.join()],
    ['listen [::]:80;', ''],
    ['listen [::]:443 ssl http2;', ''],
    ['listen 80;', `listen 127.0.0.1:${httpPort};`],
    ['listen 443 ssl http2;', `listen 127.0.0.1:${httpsPort} ssl http2;`],
    ['https://$host$request_uri', `https://$host:${httpsPort}$request_uri`],
    ['/etc/letsencrypt/live/vslukh.example/fullchain.pem', pem],
    ['/etc/letsencrypt/live/vslukh.example/privkey.pem', pem],
    ['vslukh.example', 'localhost'],
  ])
  const former = await copyDeployFile('nginx-former.conf', folder, [
    ['/var/log/nginx', folder],
    ['listen [::]:80;', ''],
    ['listen [::]:443 ssl http2;', ''],
    ['listen 80;', `listen 127.0.0.1:${httpPort};`],
    ['listen 443 ssl http2;', `listen 127.0.0.1:${httpsPort} ssl http2;`],
    ['/etc/letsencrypt/live/former.example/fullchain.pem', pem],
    ['/etc/letsencrypt/live/former.example/privkey.pem', pem],
    ['vslukh.example', `localhost:${httpsPort}`],
    ['former.example', FORMER_NAME],
  ])
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join('\n')
  const file = join(folder, 'all.conf')
  await writeFile(
    file,
    `${isRoot ? 'user root;' : ''} daemon off; pid ${folder}/pid; error_log ${folder}/error.log;
events {}
http {
access_log off;
${temporary}
include ${site};
include ${former};
}`,
  )
  return [await findNginx(), '-p', folder, '-c', file]
}

async function caddy({ folder, httpPort, httpsPort, nodes, pem }: Settings): Promise<string[]> {
  const file = await copyDeployFile('Caddyfile', folder, [
    ['\nvslukh.example {\n', `\nlocalhost {\n\tbind 127.0.0.1\n\ttls ${pem} ${pem}\n`],
    ['127.0.0.1:3000', nodes.join()],
    [
      'unix//var/lib/caddy/admin.sock',
      `unix/${folder}/admin.sock
	http_port ${httpPort}
	https_port ${httpsPort}
	storage file_system ${folder}`,
    ],
  ])
  const former = await copyDeployFile('Caddyfile.former', folder, [
    ['\nformer.example {\n', `\n${FORMER_NAME} {\n\tbind 127.0.0.1\n\ttls ${pem} ${pem}\n`],
    ['127.0.0.1:3000', nodes.join()],
    ['https://vslukh.example', `https://localhost:${httpsPort}`],
  ])
  await appendFile(file, await readFile(former))
  const program = await programOf('caddy', '/usr/bin/caddy', '/usr/local/bin/caddy')
  return [program, 'run', '--config', file]
}

async function haproxy({ folder, httpPort, httpsPort, nodes, pem }: Settings): Promise<string[]> {
  const [first = '', second = first] = nodes
  const file = await copyDeployFile('haproxy.cfg', folder, [
    ['bind :80', `bind 127.0.0.1:${httpPort}`],
    ['bind :443', `bind 127.0.0.1:${httpsPort}`],
    ['/etc/haproxy/vslukh.pem', pem],
    ['127.0.0.1:3000', first],
    ['127.0.0.1:3001', second],
    ['redirect scheme https code 301', `redirect prefix https://localhost:${httpsPort} code 301`],
  ])
  // In master-worker mode the worker ends with its master.
  return [await findBalancer(), '-W', '-f', file]
}
