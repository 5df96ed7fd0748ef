import { appendFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { withClient } from '../../server/testing/backups.ts'
import { executeOn } from '../../server/testing/databases.ts'
import { findProgram } from '../../server/testing/debian-package.ts'
import { folderForTest } from '../../server/testing/folder-for-test.ts'
import { readDeployFile } from './deploy-file.ts'
import { createOwnPostgres, debiansPostgres } from './own-postgres.ts'
import { EMAIL, startWall } from './wall-commands.ts'

const APP_SECRET = 'a-secret-that-only-tests-know-0123456789'

/**
 * Creates a PostgreSQL of Debian with pgBackRest by deploy/pgbackrest.conf, which archives its log.
 * It is not started yet.
 */
async function createArchivedPostgres() {
  const program = await findProgram(['/usr/bin/pgbackrest'], {
    debianPackage: 'pgbackrest',
    advice: 'No pgbackrest found: install it',
  })
  const postgres = await createOwnPostgres(await debiansPostgres(), ['repository', 'log'])
  const { folder, data, sockets, port, call } = postgres
  const config = join(folder, 'pgbackrest.conf')
  const text = await readDeployFile('pgbackrest.conf', [
    ['/var/lib/pgbackrest', join(folder, 'repository')],
    ['/var/log/pgbackrest', join(folder, 'log')],
    ['/tmp/pgbackrest', sockets],
    ['/var/lib/postgresql/15/main', data],
    ['pg1-port=5432', `pg1-port=${port}\npg1-socket-path=${sockets}`],
  ])
  await writeFile(config, text)
  const archive = `${program} --config=${config} --stanza=vslukh archive-push %p`
  const settings = `archive_mode = on\narchive_command = '${archive}'\n`
  await appendFile(join(data, 'postgresql.conf'), settings)
  const archiving = [`--config=${config}`, '--stanza=vslukh', '--log-level-console=warn']
  const pgbackrest = (...args: string[]) => call(program, ...archiving, ...args)
  return { ...postgres, pgbackrest, url: postgres.url.replace(/postgres$/, 'vslukh') }
}

test('pgBackRest restores a wall to the second before its posts were lost, from a backup and the log since', async () => {
  const postgres = await createArchivedPostgres()
  await postgres.control('start')
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

  await postgres.control('stop', '-m', 'immediate')
  const since = performance.now()
  const target = [`--target=${rows[0].at}`, '--target-action=promote']
  await postgres.pgbackrest('restore', '--delta', '--type=time', ...target)
  await postgres.control('start')
  const again = await startWall(env)
  const seconds = (performance.now() - since) / 1000
  process.stdout.write(
    `pgBackRest: the wall was read ${seconds.toFixed(1)} s after the restore began\n`,
  )
  const { body } = await again.client.call('GET', '/posts', { token: olga.token })
  expect(body.posts.map(({ id }: { id: string }) => id)).toEqual([second.id, first.id])
  await again.stop()
})
