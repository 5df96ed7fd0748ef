import { join } from 'node:path'
import { programReason } from '../../server/kernel/errors/why-failed.ts'
import { OLDEST_POSTGRES } from '../../server/operations/start/installation.ts'
import { Refusal } from '../command.ts'
import { hasProgram, run, runAsWall } from './machine.ts'

const SQL = join(import.meta.dirname, '../../deploy/database.sql')
/** The system's user postgres signs in over the socket as the superuser. */
const PSQL = 'runuser -u postgres -- psql -XAtq -v ON_ERROR_STOP=1 -d postgres'
const FACTS = ['server_version_num', 'port', 'unix_socket_directories', 'server_version']
  .map((name) => `current_setting('${name}')`)
  .join(" || '|' || ")

/** Thrown if this machine has no PostgreSQL. */
export class NoPostgres extends Refusal {}

/**
 * Creates the wall's role and database in this machine's PostgreSQL, unless they exist. Returns the
 * URL with which the wall's user signs in over the socket. Throws Refusal.
 */
export async function makeDatabase(): Promise<{ url: string; version: string }> {
  if (!(await hasProgram('psql')) || !(await run('id', ['postgres'])).isDone) {
    throw new NoPostgres('PostgreSQL на этой машине нет. Установите его: apt install postgresql')
  }
  const [number, port, folders = '', version = ''] = (
    await psql(`${PSQL} -c "SELECT ${FACTS}"`)
  ).split('|')
  if (Number(number) < OLDEST_POSTGRES * 10_000) {
    throw new Refusal(
      `Здесь PostgreSQL ${version}, а нужен ${OLDEST_POSTGRES} или новее. Обновите его, или назовите другой в DATABASE_URL`,
    )
  }
  await psql(`${PSQL} <"${SQL}"`)
  const [folder = ''] = folders.split(',')
  return { url: `postgresql://vslukh@localhost:${port}/vslukh?host=${folder.trim()}`, version }
}

async function psql(line: string): Promise<string> {
  const { isDone, out, err } = await run('/bin/sh', ['-c', line])
  if (isDone) return out.trim()
  throw new Refusal(
    `PostgreSQL этой машины не отвечает: ${err.split('\n')[0]}. Запустите его: systemctl start postgresql`,
  )
}

const MAKE_SECRET = `umask 077
[ -s "$1" ] || { head -c 32 /dev/urandom | base64 -w0 >"$1.new" && mv -n "$1.new" "$1"; } || { rm -f "$1.new"; exit 1; }`

/** Creates the secret as the wall's user: root must not follow a link in that user's folder. */
export async function makeSecret(dataDir: string): Promise<void> {
  const path = join(dataDir, 'app-secret')
  const { isDone, err } = await runAsWall(['/bin/sh', '-ec', MAKE_SECRET, 'sh', path])
  if (!isDone) throw new Refusal(`Секрет ${path} не записан. ${programReason(err)}.`)
}
