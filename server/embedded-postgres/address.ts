import { createHash } from 'node:crypto'
import { chown, lstat, mkdir } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorCode } from '../db/database-errors.ts'
import { StartError } from '../start/start-error.ts'
import type { OsUser } from './os-user.ts'
import type { PidFile } from './pid-file.ts'

/** Where PostgreSQL listens: a Unix socket's folder, or 127.0.0.1 with a password. */
export type Address = { host: string; port: number; password?: string }

const SOCKET_PORT = 5432
// What the kernels keep of a socket's path, without the closing NUL.
const LONGEST_SOCKET_PATH = process.platform === 'darwin' ? 103 : 107

/** Where a PostgreSQL for this cluster will listen: in the cluster's own 0700 folder, if its path is short enough. */
export async function chooseAddress(
  cluster: string,
  user: OsUser,
  password: string | undefined,
): Promise<Address> {
  if (password) return { host: '127.0.0.1', port: await freePort(), password }
  const path = join(cluster, `.s.PGSQL.${SOCKET_PORT}`)
  const short = Buffer.byteLength(path) <= LONGEST_SOCKET_PATH
  return { host: short ? cluster : await temporaryFolder(cluster, user), port: SOCKET_PORT }
}

/** Where a running PostgreSQL says that it listens, or undefined while it has not yet said so. */
export function addressOf(running: PidFile, password: string | undefined): Address | undefined {
  if (password) return { host: '127.0.0.1', port: running.port, password }
  return running.socketDir ? { host: running.socketDir, port: running.port } : undefined
}

/** The address as a connection string for `pg`, whatever characters the path holds. */
export function connectionStringFor(address: Address, database: string, role: string): string {
  const query = new URLSearchParams({ host: address.host, sslmode: 'disable' })
  const secret = address.password ? `:${encodeURIComponent(address.password)}` : ''
  // As %20: pg's parser re-encodes strings with spaces, and a plus sign is not a space to every reader.
  const search = query.toString().replaceAll('+', '%20')
  return `postgresql://${role}${secret}@localhost:${address.port}/${database}?${search}`
}

/** A 0700 folder with a short path. Its name can be foreseen, so one that somebody else prepared is refused. */
async function temporaryFolder(cluster: string, user: OsUser): Promise<string> {
  const name = createHash('sha256').update(cluster).digest('hex').slice(0, 20)
  const folder = join(tmpdir(), `pg-${name}`)
  await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
    if (errorCode(error) !== 'EEXIST') throw error
  })
  const found = await lstat(folder)
  const ours = found.uid === process.getuid?.() || found.uid === user.uid
  if (!found.isDirectory() || !ours || (found.mode & 0o077) !== 0) {
    throw new StartError(
      `Папка ${folder} нужна для связи с базой данных, но принадлежит не этому серверу. ` +
        'Удалите её или задайте DATA_DIR с более коротким путём.',
    )
  }
  if (user.uid !== undefined && user.gid !== undefined && found.uid !== user.uid) {
    await chown(folder, user.uid, user.gid)
  }
  return folder
}

function freePort(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const probe = createServer().on('error', reject)
  probe.listen(0, '127.0.0.1', () => {
    const bound = probe.address()
    probe.close(() => resolve(bound && typeof bound === 'object' ? bound.port : SOCKET_PORT))
  })
  return promise
}
