import { appendFile, chmod, chown, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { executeOn, withClient } from '../../server/testing/databases.ts'
import { findProgram } from '../../server/testing/debian-package.ts'
import { folderForTest } from '../../server/testing/folder-for-test.ts'
import { freePort } from '../../server/testing/free-port.ts'
import { readDeployFile, run } from './deploy-file.ts'
import { debiansPostgres, postgresUser } from './own-postgres.ts'
import { EMAIL, startWall } from './wall-commands.ts'

const APP_SECRET = 'a-secret-that-only-tests-know-0123456789'

/**
 * Creates a PostgreSQL of Debian with pgBackRest by deploy/pgbackrest.conf, which archives its log.
 * It is not started yet.
 */
async function createArchivedPostgres() {
  const programs = await debiansPostgres()
  const pgbackrest = await findProgram(['/usr/bin/pgbackrest'], {
    debianPackage: 'pgbackrest',
    advice: 'No pgbackrest found: install it',
  })
  const user = await postgresUser()
  const folder = await folderForTest()
  const port = await freePort()
  const pathOf = (name: string) => join(folder, name)
  await chmod(folder, 0o755)
  for (const name of ['data', 'repository', 'log', 'lock']) {
    await mkdir(pathOf(name), { mode: 0o700 })
    if (user.uid !== undefined && user.gid !== undefined)
      await chown(pathOf(name), user.uid, user.gid)
  }
  const config = pathOf('pgbackrest.conf')
  const [data, sockets] = [pathOf('data'), pathOf('lock')]
  const text = await readDeployFile('pgbackrest.conf', [
    ['/var/lib/pgbackrest', pathOf('repository')],
    ['/var/log/pgbackrest', pathOf('log')],
    ['/tmp/pgbackrest', sockets],
    ['/var/lib/postgresql/15/main', data],
    ['pg1-port=5432', `pg1-port=${port}\npg1-socket-path=${sockets}`],
  ])
  await writeFile(config, text)
  const call = (program: string, ...args: string[]) => run(program, args, { ...user, cwd: folder })
  const archiving = [`--config=${config}`, '--stanza=vslukh', '--log-level-console=warn']
  const control = ['-D', data, '-w', '-l', join(sockets, 'log')]
  const postgres = (...args: string[]) => call(join(programs, 'pg_ctl'), ...control, ...args)
  await call(join(programs, 'initdb'), '-D', data, '-U', 'postgres', '--auth=trust')
  const settings = [
    `port = ${port}`,
    `unix_socket_directories = '${sockets}'`,
    'archive_mode = on',
    `archive_command = '${pgbackrest} --config=${config} --stanza=vslukh archive-push %p'`,
  ]
  await appendFile(join(data, 'postgresql.conf'), `${settings.join('\n')}\n`)
  return {
    url: `postgresql://postgres@127.0.0.1:${port}/vslukh`,
    start: () => postgres('start'),
    kill: () => postgres('stop', '-m', 'immediate'),
    stop: () => postgres('stop', '-m', 'fast'),
    pgbackrest: (...args: string[]) => call(pgbackrest, ...archiving, ...args),
  }
}

test('pgBackRest restores a wall to the second before its posts were lost, from a backup and the log since', async () => {
  const postgres = await createArchivedPostgres()
  await postgres.start()
  onTestFinished(async () => void (await postgres.stop().catch(() => {})))
  await executeOn(postgres.url.replace(/vslukh$/, 'postgres'), 'CREATE DATABASE vslukh')
  await postgres.pgbackrest('stanza-create')
  const folder = await folderForTest()
  const env = { DATABASE_URL: postgres.url, APP_SECRET, DATA_DIR: folder, RATE_LIMIT_SCALE: '100' }
  const wall = await startWall(env)
  const olga = await wall.client.signIn(EMAIL)
  const first = await wall.client.publish(olga, 'До копии')
  await postgres.pgbackrest('backup', '--type=full')
  // pgBackRest counts whole seconds: the backup has to end in an earlier one than the target.
  await executeOn(
    postgres.url,
    `SELECT pg_sleep_until(date_trunc('second', now()) + interval '1 second')`,
  )
  const second = await wall.client.publish(olga, 'После копии')
  const { rows } = await withClient(postgres.url, (client) =>
    client.query(
      "SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS+00') AS at, pg_sleep(0.01)",
    ),
  )
  await executeOn(postgres.url, 'DELETE FROM posts')
  // Waits until the log with the deletion is archived.
  await postgres.pgbackrest('check')
  await wall.stop()

  await postgres.kill()
  const since = performance.now()
  const target = [`--target=${rows[0].at}`, '--target-action=promote']
  await postgres.pgbackrest('restore', '--delta', '--type=time', ...target)
  await postgres.start()
  const again = await startWall(env)
  const seconds = (performance.now() - since) / 1000
  process.stdout.write(
    `pgBackRest: the wall was read ${seconds.toFixed(1)} s after the restore began\n`,
  )
  const { body } = await again.client.call('GET', '/posts', { token: olga.token })
  expect(body.posts.map(({ id }: { id: string }) => id)).toEqual([second.id, first.id])
  await again.stop()
})
