import { createHash } from 'node:crypto'
import { chown, lstat, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '../../kernel/db/database-errors.ts'
import { StartError } from '../../kernel/errors/app-error.ts'
import type { OsUser } from './os-user.ts'

/** `host` is the folder of the Unix socket, and `port` is part of the socket's name. */
export type Address = { host: string; port: number }

const SOCKET_PORT = 5432
/** The kernel's limit on a socket's path, in bytes, without the closing NUL. */
const LONGEST_SOCKET_PATH = process.platform === 'darwin' ? 103 : 107

/** Chooses the cluster's own 0700 folder, or a temporary folder if the path is too long. */
export async function chooseAddress(cluster: string, user: OsUser): Promise<Address> {
  const path = join(cluster, `.s.PGSQL.${SOCKET_PORT}`)
  const short = Buffer.byteLength(path) <= LONGEST_SOCKET_PATH
  return { host: short ? cluster : await temporaryFolder(cluster, user), port: SOCKET_PORT }
}

export function connectionStringFor(address: Address, database: string, role: string): string {
  const query = new URLSearchParams({
    host: address.host,
    sslmode: 'disable',
    // Set here, because pg would otherwise read PGOPTIONS.
    options: '--client_encoding=UTF8',
  })
  // Spaces become %20: pg's parser re-encodes spaces, and not every parser decodes a plus sign.
  const search = query.toString().replaceAll('+', '%20')
  return `postgresql://${role}@localhost:${address.port}/${database}?${search}`
}

/** Creates a folder, whose name is predictable. Throws StartError if another user has made it. */
async function temporaryFolder(cluster: string, user: OsUser): Promise<string> {
  const name = createHash('sha256').update(cluster).digest('hex').slice(0, 20)
  // Every process looks here, wherever its TMPDIR leads.
  const folder = join('/tmp', `pg-${name}`)
  await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
    if (errorCode(error) !== 'EEXIST') throw error
  })
  const found = await lstat(folder)
  const isOurs = found.uid === process.getuid?.() || found.uid === user.uid
  if (!found.isDirectory() || !isOurs || (found.mode & 0o077) !== 0) {
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
