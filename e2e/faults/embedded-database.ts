import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Db, openDatabase } from '../../server/db/database.ts'
import { addressOf, connectionStringFor } from '../../server/embedded-postgres/address.ts'
import { findRunning } from '../../server/embedded-postgres/pid-file.ts'

/** The number of the process of the PostgreSQL that runs in a product's folder. */
export async function postmasterOf(dataDir: string): Promise<number> {
  return (await runningIn(dataDir)).pid
}

/** Lets `look` read a running product's database past the product, over its own socket. */
export async function lookInside<T>(dataDir: string, look: (db: Db) => Promise<T>): Promise<T> {
  const address = addressOf(await runningIn(dataDir))
  if (!address) throw new Error('the database has not said where it listens')
  const { db, close } = openDatabase(connectionStringFor(address, 'vslukh', 'vslukh'), () => {})
  return look(db).finally(close)
}

/** Keeps a product's PostgreSQL from starting once it has ended, until the function that this gives is called. */
export async function holdDown(dataDir: string): Promise<() => Promise<void>> {
  const file = join(dataDir, 'postgres/postgresql.auto.conf')
  const before = await readFile(file)
  await writeFile(file, 'no_such_setting = 1\n')
  return () => writeFile(file, before)
}

/** Freezes a product's PostgreSQL, as a host that hangs: connections stay and nobody answers. Gives what thaws it. */
export async function freeze(dataDir: string): Promise<() => void> {
  const postmaster = await postmasterOf(dataDir)
  // First the one who would start others.
  process.kill(postmaster, 'SIGSTOP')
  const backends = await childrenOf(postmaster)
  for (const pid of backends) process.kill(pid, 'SIGSTOP')
  return () => {
    for (const pid of [...backends, postmaster]) process.kill(pid, 'SIGCONT')
  }
}

/** The processes that a process has started, from /proc (proc(5)). */
async function childrenOf(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return children.trim().split(' ').filter(Boolean).map(Number)
}

async function runningIn(dataDir: string) {
  const running = await findRunning(join(dataDir, 'postgres'))
  if (!running) throw new Error(`no database runs in ${dataDir}`)
  return running
}
