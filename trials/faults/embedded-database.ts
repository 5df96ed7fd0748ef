import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { AcknowledgedWrites } from '../../e2e/testing/acknowledged-writes.ts'
import { startProductForTest } from '../../e2e/testing/product.ts'
import { simulateUsers } from '../../e2e/testing/simulated-users.ts'
import { findCounterDifferences } from '../../server/features/posts/counters.task.ts'
import { type Db, openDatabase } from '../../server/kernel/db/database.ts'
import { connectionStringFor } from '../../server/operations/embedded-postgres/address.ts'
import { findRunning } from '../../server/operations/embedded-postgres/pid-file.ts'

/** Starts a product with four users, who act on it while it is in use. */
export async function startUsedProduct(options?: Parameters<typeof startProductForTest>[0]) {
  const started = await startProductForTest(options)
  const { url, dataDir } = started.product
  const users = await started.client.signUps(4)
  const acknowledged = new AcknowledgedWrites()
  return {
    ...started,
    users,
    acknowledged,
    use: (more = {}) => simulateUsers({ url, users, acknowledged, ...more }),
    expectNothingLost: () =>
      withEmbeddedDatabase(dataDir, async (db) => {
        expect(await acknowledged.findLost(db)).toEqual([])
        expect(await findCounterDifferences(db)).toEqual([])
      }),
  }
}

export async function postmasterOf(dataDir: string): Promise<number> {
  return (await runningIn(dataDir)).pid
}

/** Connects over PostgreSQL's own socket. */
export async function withEmbeddedDatabase<T>(
  dataDir: string,
  work: (db: Db) => Promise<T>,
): Promise<T> {
  const { address } = await runningIn(dataDir)
  if (!address) throw new Error('the database has not said where it listens')
  const { db, close } = openDatabase(connectionStringFor(address, 'vslukh', 'vslukh'), () => {})
  return work(db).finally(close)
}

/** Prevents another start of PostgreSQL; returns a function that allows it. */
export async function preventStart(dataDir: string): Promise<() => Promise<void>> {
  const file = join(dataDir, 'postgres/postgresql.auto.conf')
  const before = await readFile(file)
  await writeFile(file, 'no_such_setting = 1\n')
  return () => writeFile(file, before)
}

async function runningIn(dataDir: string) {
  const running = await findRunning(join(dataDir, 'postgres'))
  if (!running) throw new Error(`no database runs in ${dataDir}`)
  return running
}
