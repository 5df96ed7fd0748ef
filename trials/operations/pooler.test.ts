import { spawn } from 'node:child_process'
import { chmod } from 'node:fs/promises'
import { expect, onTestFinished, test } from 'vitest'
import { AcknowledgedWrites } from '../../e2e/testing/acknowledged-writes.ts'
import { startProductForTest } from '../../e2e/testing/product.ts'
import { simulateUsers } from '../../e2e/testing/simulated-users.ts'
import { closeAfterTest } from '../../server/testing/close-after-test.ts'
import { databaseForTest } from '../../server/testing/database/database-for-test.ts'
import { executeOn } from '../../server/testing/database/databases.ts'
import { openPostgresProxy } from '../../server/testing/database/postgres-proxy.ts'
import { examine } from '../../server/testing/examined-wall.ts'
import { PAST_CACHE } from '../../server/testing/http/client.ts'
import { mailboxForTest } from '../../server/testing/mail/mailbox.ts'
import { endChild, untilUp } from '../../server/testing/process/child-process.ts'
import { isRoot } from '../../server/testing/process/debian-package.ts'
import { folderForTest } from '../../server/testing/process/folder-for-test.ts'
import { freePort } from '../../server/testing/process/free-port.ts'
import { startMain } from '../../server/testing/process/start-main.ts'
import { copyDeployFile, programOf } from './deploy-file.ts'

test('two nodes behind PgBouncer in transaction mode, at a database that writes dates in German: every call is answered, changes reach the other node, mails go out, and a statement ends after 3 s', async () => {
  const directUrl = await databaseForTest()
  const name = new URL(directUrl).pathname.slice(1)
  await executeOn(directUrl, `ALTER DATABASE ${name} SET DateStyle = 'German'`)
  const pooler = await startPooler(directUrl)
  const mailbox = await mailboxForTest()
  const startNode = async () => {
    const urls = { DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: directUrl, SMTP_URL: mailbox.url }
    const { product, client } = await startProductForTest({ env: urls })
    return { url: product.url, ...client }
  }
  const nodes = [await startNode(), await startNode()] as const
  const [one, other] = nodes

  // Without PUBLIC_URL each node has session cookies of its own.
  const [users, others] = [await one.signUps(4), await other.signUps(4)]
  const acknowledged = new AcknowledgedWrites()
  const loads = [
    simulateUsers({ url: one.url, users, acknowledged }),
    simulateUsers({ url: other.url, users: others, acknowledged }),
  ]
  await acknowledged.waitForMore(200)
  await Promise.all(loads.map((load) => load.stop()))
  const calls = loads.flatMap(({ outcomes }) => outcomes)
  expect(calls.filter(({ status }) => status !== 200 && status !== 201)).toEqual([])
  const statistics = await pooler.statistics()
  expect(Number(statistics?.total_xact_count)).toBeGreaterThan(acknowledged.posts.size)

  const [olga] = users
  if (!olga) throw new Error('users were signed up')
  for (let round = 0; round < 5; round++) {
    const { id } = await one.publish(olga)
    const sent = { token: olga.token, headers: PAST_CACHE }
    const { body } = await other.call('GET', '/posts', sent)
    expect(body.posts[0].id).toBe(id)
  }
  await mailbox.mailTo(olga.email)

  const sleeping = executeOn(pooler.url, 'SELECT pg_sleep(10)')
  await expect(sleeping).rejects.toThrow(/statement timeout/)
})

test('the doctor reports that the pooler is down and the server therefore cannot write, although the database works', async () => {
  const directUrl = await databaseForTest()
  const pooler = await startPooler(directUrl)
  const env = {
    DATABASE_URL: pooler.url,
    DATABASE_DIRECT_URL: directUrl,
    APP_SECRET: 's'.repeat(32),
    DATA_DIR: await folderForTest(),
    PORT: String(await freePort()),
  }
  expect((await startMain(env)).code).toBe(null)
  const well = (await examine(env)).found
  expect(well).toMatchObject({ pooler: { level: 'ok' }, ready: { level: 'ok' } })
  await pooler.stop()
  const { code, found } = await examine(env)
  expect(code).toBe(1)
  expect(found).toMatchObject({
    database: { level: 'ok' },
    pooler: { level: 'broken', fix: expect.stringContaining('PgBouncer') },
    ready: { level: 'broken', message: expect.stringMatching(/readyz — 503$/) },
  })
})

/**
 * Starts PgBouncer with deploy/pgbouncer.ini before a database, for one test. `statistics` returns
 * its SHOW STATS of the database.
 */
async function startPooler(databaseUrl: string) {
  const folder = await folderForTest()
  // PgBouncer runs as another user, who may not reach the database's socket.
  const database = closeAfterTest(await openPostgresProxy(databaseUrl))
  const { hostname, port, pathname, username } = new URL(database.url)
  const ownPort = await freePort()
  const file = await copyDeployFile('pgbouncer.ini', folder, [
    [
      'vslukh = host=10.0.0.11 dbname=vslukh',
      `${pathname.slice(1)} = host=${hostname} port=${port} user=${username}`,
    ],
    ['listen_port = 6432', `listen_port = ${ownPort}\nunix_socket_dir =`],
    ['auth_type = scram-sha-256', 'auth_type = any'],
    ['auth_file = /etc/pgbouncer/userlist.txt', `admin_users = ${username}`],
    ['default_pool_size = 20', 'default_pool_size = 3'],
  ])
  await chmod(folder, 0o755)
  const program = await programOf('pgbouncer', '/usr/sbin/pgbouncer', '/usr/bin/pgbouncer')
  const pooler = spawn(program, [...(isRoot ? ['-u', 'nobody'] : []), file], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const stop = () => endChild(pooler, 'SIGINT')
  onTestFinished(stop)

  async function statistics() {
    const url = `postgresql://${username}@127.0.0.1:${ownPort}/pgbouncer`
    const rows = await executeOn<{ database: string; total_xact_count: string }>(url, 'SHOW STATS')
    return rows.find(({ database }) => database === pathname.slice(1))
  }

  await untilUp(pooler, () => statistics().then(() => true))
  return { url: `postgresql://${username}@127.0.0.1:${ownPort}${pathname}`, statistics, stop }
}
