import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { APP_SECRET } from '../../e2e/testing/product.ts'
import { executeOn } from '../../server/testing/database/databases.ts'
import { folderForTest } from '../../server/testing/process/folder-for-test.ts'
import { EMAIL, startWall } from '../../server/testing/process/start-wall.ts'
import { copyDeployFile, programOf } from './deploy-file.ts'
import { createPostgres } from './own-postgres.ts'

/** Starts a PostgreSQL with pgBackRest by deploy/pgbackrest.conf, which archives its log. */
async function startArchivedPostgres() {
  const program = await programOf('pgbackrest', '/usr/bin/pgbackrest')
  const postgres = await createPostgres()
  const { folder, data, port, superuser, call, configure } = postgres
  const config = await copyDeployFile('pgbackrest.conf', folder, [
    ['/var/lib/pgbackrest', join(folder, 'repository')],
    ['aes-256-cbc\n', 'aes-256-cbc\nrepo1-cipher-pass=a passphrase of the test\n'],
    ['/var/log/pgbackrest', folder],
    ['/tmp/pgbackrest', folder],
    ['/var/lib/postgresql/15/main', data],
    ['pg1-port=5432', `pg1-port=${port}\npg1-socket-path=${folder}`],
  ])
  await configure(
    'archive_mode = on',
    `archive_command = '${program} --config=${config} --stanza=vslukh archive-push %p'`,
  )
  await postgres.start()
  await executeOn(superuser, 'CREATE DATABASE vslukh')
  const archiving = [`--config=${config}`, '--stanza=vslukh', '--log-level-console=warn']
  const pgbackrest = (...args: string[]) => call(program, ...archiving, ...args)
  await pgbackrest('stanza-create')
  return { ...postgres, url: superuser.replace(/postgres$/, 'vslukh'), pgbackrest }
}

test('pgBackRest restores a wall to the second before its posts were lost, from a backup and the log since', async () => {
  const { url, folder, pgbackrest, kill, start } = await startArchivedPostgres()
  const DATA_DIR = await folderForTest()
  const env = { DATABASE_URL: url, APP_SECRET, DATA_DIR, RATE_LIMIT_SCALE: '100' }
  const wall = await startWall(env)
  const olga = await wall.client.signIn(EMAIL)
  const first = await wall.client.publish(olga, 'До копии')
  await pgbackrest('backup', '--type=full')
  const info = await readFile(join(folder, 'repository/backup/vslukh/backup.info'))
  expect(info.subarray(0, 8).toString()).toBe('Salted__')
  // pgBackRest counts whole seconds: the backup has to end in an earlier one than the target.
  await executeOn(url, `SELECT pg_sleep_until(date_trunc('second', now()) + interval '1 second')`)
  const second = await wall.client.publish(olga, 'После копии')
  const [row] = await executeOn(
    url,
    `SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS+00') AS at,
      pg_sleep(0.01)`,
  )
  await executeOn(url, 'DELETE FROM posts')
  // Waits until the log with the deletion is archived.
  await pgbackrest('check')
  await wall.stop()

  await kill()
  const target = [`--target=${row?.at}`, '--target-action=promote']
  await pgbackrest('restore', '--delta', '--type=time', ...target)
  await start()
  const again = await startWall(env)
  const { body } = await again.client.call('GET', '/posts', { token: olga.token })
  expect(body.posts.map(({ id }: { id: string }) => id)).toEqual([second.id, first.id])
})
