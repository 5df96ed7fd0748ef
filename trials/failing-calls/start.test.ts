import { cp, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'vitest'
import { MIGRATIONS, migrate } from '../../server/kernel/db/migrate.ts'
import { startEmbeddedPostgres } from '../../server/operations/embedded-postgres/embedded-postgres.ts'
import { folderForTest } from '../../server/testing/process/folder-for-test.ts'
import { expectRight, IN_ALL, WALL_FILES, wallIn } from './commands.ts'

const START = { script: 'scripts/start.ts', args: [], endAt: /^Готово: /m }
const MAY_BE_THERE = new RegExp(`${WALL_FILES.source}|^data/mail$`)

async function startOf(disk: string, prepare?: () => Promise<void>) {
  const env = { DATA_DIR: join(disk, 'data'), PORT: '0', LOG_LEVEL: 'silent' }
  await expectRight({
    ...{ ...START, env, disk, ...(prepare && { prepare }) },
    mayBeThere: MAY_BE_THERE,
    stateOf: async () => ((await wallIn(env)) === undefined ? 'old' : 'new'),
  })
}

test('the first start', IN_ALL, async () => {
  await startOf(join(await folderForTest(), 'disk'))
})

test('the first start of a newer version', IN_ALL, async () => {
  const folder = await folderForTest()
  const former = join(folder, 'former')
  await mkdir(former)
  const postgres = await startEmbeddedPostgres({ dataDir: join(former, 'data'), say() {} })
  const first = Object.entries(MIGRATIONS).slice(0, 1)
  await migrate(postgres.connectionString, { migrations: Object.fromEntries(first) })
  await postgres.stop()
  const disk = join(folder, 'disk')
  await startOf(disk, () => cp(former, disk, { recursive: true }))
})
