import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findBalancer } from '../../server/testing/balancer.ts'
import { findNginx, findProgram, isRoot } from '../../server/testing/debian-package.ts'
import { makeCertificate, readDeployFile } from './deploy-file.ts'

export type ProxySettings = { folder: string; httpPort: number; httpsPort: number; nodes: string[] }

export type ProxyConfig = { program: string; run: string[]; cert: string }

export async function nginxConfig(settings: ProxySettings): Promise<ProxyConfig> {
  const { folder, httpPort, httpsPort, nodes } = settings
  const { cert, key } = await makeCertificate(folder)
  const site = await readDeployFile('nginx.conf', [
    ['/var/lib/nginx/vslukh', join(folder, 'cache')],
    ['127.0.0.1:3000', nodes.join()],
    ['listen [::]:80;', ''],
    ['listen [::]:443 ssl http2;', ''],
    ['listen 80;', `listen 127.0.0.1:${httpPort};`],
    ['listen 443 ssl http2;', `listen 127.0.0.1:${httpsPort} ssl http2;`],
    ['https://$host$request_uri', `https://$host:${httpsPort}$request_uri`],
    ['/etc/letsencrypt/live/vslukh.example/fullchain.pem', cert],
    ['/etc/letsencrypt/live/vslukh.example/privkey.pem', key],
    ['vslukh.example', 'localhost'],
  ])
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join('\n')
  const file = join(folder, 'nginx.conf')
  await writeFile(
    file,
    `${isRoot ? 'user root;' : ''} daemon off; pid ${folder}/pid; error_log ${folder}/error.log;
events {}
http {
access_log off;
${temporary}
${site}
}`,
  )
  const program = await findNginx()
  return { program, run: ['-p', folder, '-c', file], cert }
}

export async function caddyConfig(settings: ProxySettings): Promise<ProxyConfig> {
  const { folder, httpPort, httpsPort, nodes } = settings
  const { cert, key } = await makeCertificate(folder)
  const site = await readDeployFile('Caddyfile', [
    ['\nvslukh.example {\n', `\nlocalhost {\n\tbind 127.0.0.1\n\ttls ${cert} ${key}\n`],
    ['127.0.0.1:3000', nodes.join()],
    [
      'unix//var/lib/caddy/admin.sock',
      `unix/${folder}/admin.sock
	http_port ${httpPort}
	https_port ${httpsPort}
	storage file_system ${folder}`,
    ],
  ])
  const file = join(folder, 'Caddyfile')
  await writeFile(file, site)
  const program = await findProgram(['/usr/bin/caddy', '/usr/local/bin/caddy'], {
    debianPackage: 'caddy',
    advice: 'No caddy found: install it',
  })
  return { program, run: ['run', '--config', file, '--adapter', 'caddyfile'], cert }
}

export async function haproxyConfig(settings: ProxySettings): Promise<ProxyConfig> {
  const { folder, httpPort, httpsPort, nodes } = settings
  const { cert, pem } = await makeCertificate(folder)
  const [first = '', second = first] = nodes
  const file = join(folder, 'haproxy.cfg')
  const text = await readDeployFile('haproxy.cfg', [
    ['bind :80', `bind 127.0.0.1:${httpPort}`],
    ['bind :443', `bind 127.0.0.1:${httpsPort}`],
    ['/etc/haproxy/vslukh.pem', pem],
    ['127.0.0.1:3000', first],
    ['127.0.0.1:3001', second],
    ['redirect scheme https code 301', `redirect prefix https://localhost:${httpsPort} code 301`],
  ])
  await writeFile(file, text)
  const program = await findBalancer()
  // In master-worker mode the worker ends with its master.
  return { program, run: ['-W', '-f', file], cert }
}
