import { spawn } from 'node:child_process'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { onTestFinished } from 'vitest'
import { endChild, untilUp } from '../../server/testing/child-process.ts'
import { findProgram, isRoot } from '../../server/testing/debian-package.ts'
import { folderForTest } from '../../server/testing/folder-for-test.ts'
import { freePort } from '../../server/testing/free-port.ts'
import { openPostgresProxy } from '../../server/testing/postgres-proxy.ts'
import { readDeployFile } from './deploy-file.ts'

/**
 * Starts PgBouncer with deploy/pgbouncer.ini before a database, for one test. `statistics` returns
 * its SHOW STATS of the database.
 */
export async function startPooler(databaseUrl: string) {
  const folder = await folderForTest()
  // PgBouncer runs as another user, who may not reach the database's socket.
  const database = await openPostgresProxy(databaseUrl)
  onTestFinished(database.close)
  const { hostname, port, pathname, username } = new URL(database.url)
  const ownPort = await freePort()
  const file = join(folder, 'pgbouncer.ini')
  await writeFile(
    file,
    await readDeployFile('pgbouncer.ini', [
      [
        'vslukh = host=10.0.0.11 dbname=vslukh',
        `${pathname.slice(1)} = host=${hostname} port=${port} user=${username}`,
      ],
      ['listen_port = 6432', `listen_port = ${ownPort}\nunix_socket_dir =`],
      ['auth_type = scram-sha-256', 'auth_type = any'],
      ['auth_file = /etc/pgbouncer/userlist.txt', `admin_users = ${username}`],
      ['default_pool_size = 20', 'default_pool_size = 3'],
    ]),
  )
  await chmod(folder, 0o755)
  const program = await findProgram(['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'], {
    debianPackage: 'pgbouncer',
    advice: 'No pgbouncer found: install it',
  })
  const pooler = spawn(program, [...(isRoot ? ['-u', 'nobody'] : []), file], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const stop = () => endChild(pooler, 'SIGINT')
  onTestFinished(stop)

  async function statistics() {
    const client = new pg.Client(`postgresql://${username}@127.0.0.1:${ownPort}/pgbouncer`)
    client.on('error', () => {})
    await client.connect()
    try {
      const { rows } = await client.query('SHOW STATS')
      return rows.find((row) => row.database === pathname.slice(1))
    } finally {
      await client.end()
    }
  }

  await untilUp(pooler, () => statistics().then(() => true))
  return { url: `postgresql://${username}@127.0.0.1:${ownPort}${pathname}`, statistics, stop }
}
