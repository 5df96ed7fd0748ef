import { appendFile, chmod, chown } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { isRoot } from '../../server/testing/process/debian-package.ts'
import { folderForTest } from '../../server/testing/process/folder-for-test.ts'
import { freePort } from '../../server/testing/process/free-port.ts'
import { programOf, run } from './deploy-file.ts'

/** The folder of the programs of Debian 12's PostgreSQL. */
export const debiansPostgres = async () =>
  dirname(await programOf('postgresql-15', '/usr/lib/postgresql/15/bin/initdb'))

/** Creates a PostgreSQL 15 that is not started yet. The end of the test stops it. */
export async function createPostgres() {
  const programs = await debiansPostgres()
  const user = await postgresUser()
  const folder = await folderForTest()
  await chmod(folder, 0o755)
  await giveToPostgres(folder)
  const data = join(folder, 'data')
  const port = await freePort()
  const env = { ...process.env, LC_ALL: 'C' }
  /** Runs a program as the owner of the database's files. */
  const call = (program: string, ...args: string[]) =>
    run(program, args, { ...user, cwd: folder, env })
  const control = (...args: string[]) =>
    call(join(programs, 'pg_ctl'), '-D', data, '-w', '-l', join(folder, 'log'), ...args)
  const configure = (...settings: string[]) =>
    appendFile(join(data, 'postgresql.conf'), `${settings.join('\n')}\n`)
  const initdb = [
    '-D',
    data,
    '-U',
    'postgres',
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C.UTF-8',
  ]
  await call(join(programs, 'initdb'), ...initdb)
  await configure(`port = ${port}`, `unix_socket_directories = '${folder}'`)
  onTestFinished(async () => void (await control('stop', '-m', 'immediate').catch(() => {})))
  return {
    ...{ folder, data, port, call, configure },
    superuser: `postgresql://postgres@127.0.0.1:${port}/postgres`,
    start: () => control('start'),
    kill: () => control('stop', '-m', 'immediate'),
  }
}

/** PostgreSQL refuses root, so root runs it as Debian's user postgres. */
export async function postgresUser(): Promise<{ uid?: number; gid?: number }> {
  if (!isRoot) return {}
  const id = async (option: string) => Number((await run('id', [option, 'postgres'])).stdout)
  return { uid: await id('-u'), gid: await id('-g') }
}

export async function giveToPostgres(folder: string): Promise<void> {
  const { uid, gid } = await postgresUser()
  if (uid !== undefined && gid !== undefined) await chown(folder, uid, gid)
}
