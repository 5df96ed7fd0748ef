import { existsSync } from 'node:fs'
import { copyFile, cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readManifest } from '../../server/operations/backup/backup-file.ts'
import { emptyDatabase } from '../../server/testing/database/backups.ts'
import { executeOn } from '../../server/testing/database/databases.ts'
import { folderForTest } from '../../server/testing/process/folder-for-test.ts'
import { runCommand } from '../../server/testing/process/run-command.ts'
import { backupTrial, wallWithDatabase } from './backup-trial.ts'
import { BACKUP, either, expectRight, IN_ALL, WALL_FILES, wallIn } from './commands.ts'
import { OPERATOR } from './fail-each.ts'

test('backup', IN_ALL, async () => {
  await expectRight(await backupTrial(await folderForTest()))
})

test('verify', IN_ALL, async () => {
  const folder = await folderForTest()
  const disk = join(folder, 'disk')
  const file = join(disk, 'x.backup')
  await expectRight({
    ...{ script: OPERATOR, args: ['verify', file], env: { DATA_DIR: join(disk, 'data') }, disk },
    prepare: () => copyFile(BACKUP, file),
    storesNothing: true,
    mayBeThere: /^x\.backup$/,
    stateOf: async () => either((await readManifest(file)).parts.length > 0),
  })
})

test('export', IN_ALL, async () => {
  const folder = await folderForTest()
  const disk = join(folder, 'disk')
  const file = join(disk, 'x.zip')
  const env = await wallWithDatabase(folder)
  const people = (await runCommand(env, 'people', '--since', '9999d', '--json')).out
  const [, person = ''] = /"username": "([^"]+)"/.exec(people) ?? []
  await expectRight({
    ...{ script: OPERATOR, args: ['user', person, 'export', file], env, disk },
    mayBeThere: /^x\.zip$/,
    isDone: /такой файл уже есть/,
    stateOf: async () => {
      if (!existsSync(file)) return 'old'
      // The last record of a complete archive.
      expect((await readFile(file)).subarray(-22, -18).toString('latin1')).toBe('PK\x05\x06')
      return 'new'
    },
  })
})

test('restore into an empty folder', IN_ALL, async () => {
  const disk = join(await folderForTest(), 'disk')
  const file = join(disk, 'x.backup')
  const env = { DATA_DIR: join(disk, 'data') }
  await expectRight({
    ...{ script: OPERATOR, args: ['restore', file], env, disk },
    prepare: () => copyFile(BACKUP, file),
    mayBeThere: WALL_FILES,
    isDone: /уже есть стена/,
    stateOf: async () => either((await wallIn(env)) !== undefined),
  })
})

test('restore in place of a wall', IN_ALL, async () => {
  const folder = await folderForTest()
  const [disk, former] = [join(folder, 'disk'), join(folder, 'former')]
  await mkdir(former)
  const file = join(disk, 'x.backup')
  const env = { DATA_DIR: join(disk, 'data') }
  const before = { DATA_DIR: join(former, 'data') }
  expect(await runCommand(before, 'restore', BACKUP)).toMatchObject({ code: 0 })
  // Now it has no sessions, and so differs from the backup.
  const signedOut = await runCommand(before, 'user', 'zapyataya', 'sign-out', '--yes')
  expect(signedOut).toMatchObject({ code: 0 })
  // The secret of the backup has to be put in the place of another one.
  await writeFile(join(former, 'data/app-secret'), `${'z'.repeat(43)}\n`)
  const replaced = await wallIn(before)
  await copyFile(BACKUP, join(former, 'x.backup'))
  await expectRight({
    ...{ script: OPERATOR, args: ['restore', file, '--replace', '--yes'], env, disk },
    prepare: () => cp(former, disk, { recursive: true }),
    mayBeThere: new RegExp(`${WALL_FILES.source}|^data/app-secret\\.old-\\d+$`),
    stateOf: async () => either((await wallIn(env)) !== replaced),
  })
})

test('move-database', IN_ALL, async () => {
  const folder = await folderForTest()
  const [disk, former] = [join(folder, 'disk'), join(folder, 'former')]
  await mkdir(former)
  expect(await runCommand({ DATA_DIR: join(former, 'data') }, 'restore', BACKUP)).toMatchObject({
    code: 0,
  })
  const wall = await wallIn({ DATA_DIR: join(former, 'data') })
  const target = await emptyDatabase()
  const env = { DATA_DIR: join(disk, 'data') }
  const emptied = 'DROP SCHEMA public CASCADE; CREATE SCHEMA public'
  await expectRight({
    ...{ script: OPERATOR, args: ['move-database', target, '--yes'], env, disk },
    async prepare() {
      await executeOn(target, `${emptied}; DROP SCHEMA IF EXISTS graphile_worker CASCADE`)
      await cp(former, disk, { recursive: true })
    },
    mayBeThere: new RegExp(`${WALL_FILES.source}|^data/vslukh-[^/]*\\.backup$`),
    isDone: /уже есть стена/,
    stateOf: async () => {
      // The former wall stays whole, whatever becomes of the move.
      expect(await wallIn(env)).toBe(wall)
      return either((await wallIn({ ...env, DATABASE_URL: target })) !== undefined)
    },
  })
})
