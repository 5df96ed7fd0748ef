import { appendFile, chmod, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import {
  changeOwner,
  chooseOsUser,
  commandAs,
} from '../../server/operations/embedded-postgres/os-user.ts'
import { findProgram, isRoot } from '../../server/testing/debian-package.ts'
import { folderForTest } from '../../server/testing/folder-for-test.ts'
import { freePort } from '../../server/testing/free-port.ts'
import { run } from './deploy-file.ts'

/** The folder of the programs of Debian 12's PostgreSQL. */
export async function debiansPostgres(): Promise<string> {
  const initdb = await findProgram(['/usr/lib/postgresql/15/bin/initdb'], {
    debianPackage: 'postgresql-15',
    advice: 'This test needs PostgreSQL 15: install Debian 12’s postgresql-15',
  })
  return join(initdb, '..')
}

/** Starts a PostgreSQL of these programs until the end of the test. Returns its superuser's URL. */
export async function startOwnPostgres(programs: string): Promise<string> {
  const folder = await folderForTest()
  await chmod(folder, 0o755)
  const [data, sockets] = [join(folder, 'data'), join(folder, 'sockets')]
  const user = await chooseOsUser(join(programs, 'postgres'), folder)
  for (const path of [data, sockets]) {
    await mkdir(path, { mode: 0o700 })
    await changeOwner(user, path)
  }
  const call = (program: string, ...args: string[]) => {
    const { file, args: all, ids } = commandAs(user, join(programs, program), args)
    return run(file, all, { ...ids, cwd: folder, env: { ...process.env, LC_ALL: 'C' } })
  }
  const port = await freePort()
  await call('initdb', '-D', data, '-U', 'postgres', '--auth=trust', '--encoding=UTF8')
  const settings = `port = ${port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '${sockets}'\n`
  await appendFile(join(data, 'postgresql.conf'), settings)
  const control = ['-D', data, '-w', '-l', join(sockets, 'log')]
  await call('pg_ctl', ...control, 'start')
  onTestFinished(async () => void (await call('pg_ctl', ...control, '-m', 'immediate', 'stop')))
  return `postgresql://postgres@127.0.0.1:${port}/postgres`
}

/** PostgreSQL refuses root, so root runs it as Debian's user postgres. */
export async function postgresUser(): Promise<{ uid?: number; gid?: number }> {
  if (!isRoot) return {}
  const id = async (option: string) => Number((await run('id', [option, 'postgres'])).stdout)
  return { uid: await id('-u'), gid: await id('-g') }
}
