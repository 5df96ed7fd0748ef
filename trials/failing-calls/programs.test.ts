import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'vitest'
import { readManifest } from '../../server/operations/backup/backup-file.ts'
import { folderForTest } from '../../server/testing/process/folder-for-test.ts'
import { BACKUP, either, expectRight, IN_ALL, WALL_FILES, wallIn } from './commands.ts'
import { failPrograms, OPERATOR } from './fail-each.ts'

test('the PostgreSQL of a verification', IN_ALL, async () => {
  const disk = join(await folderForTest(), 'disk')
  const file = join(disk, 'x.backup')
  const trial = {
    ...{ script: OPERATOR, args: ['verify', file], env: { DATA_DIR: join(disk, 'data') }, disk },
    prepare: () => copyFile(BACKUP, file),
    mayBeThere: /^x\.backup$/,
    stateOf: async () => either((await readManifest(file)).parts.length > 0),
  }
  await expectRight(trial, failPrograms)
})

test('the PostgreSQL of a restore into an empty folder', IN_ALL, async () => {
  const disk = join(await folderForTest(), 'disk')
  const file = join(disk, 'x.backup')
  const env = { DATA_DIR: join(disk, 'data') }
  const trial = {
    ...{ script: OPERATOR, args: ['restore', file], env, disk },
    prepare: () => copyFile(BACKUP, file),
    mayBeThere: WALL_FILES,
    isDone: /уже есть стена/,
    stateOf: async () => either((await wallIn(env)) !== undefined),
  }
  await expectRight(trial, failPrograms)
})
