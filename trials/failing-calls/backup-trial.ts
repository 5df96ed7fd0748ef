import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { readManifest } from '../../server/operations/backup/backup-file.ts'
import { emptyDatabase } from '../../server/testing/database/backups.ts'
import { runHere } from '../../server/testing/process/run-command.ts'
import { BACKUP, either } from './commands.ts'
import { OPERATOR, type Trial } from './fail-each.ts'

/** Makes a database with the wall of a backup. Returns the variables that name it. */
export async function wallWithDatabase(folder: string) {
  const env = { DATABASE_URL: await emptyDatabase(), DATA_DIR: join(folder, 'settings') }
  expect(await runHere(env, ['restore', BACKUP])).toMatchObject({ code: 0 })
  return env
}

export async function backupTrial(folder: string): Promise<Trial> {
  const disk = join(folder, 'disk')
  const file = join(disk, 'x.backup')
  return {
    ...{ script: OPERATOR, args: ['backup', file], env: await wallWithDatabase(folder), disk },
    mayBeThere: /^x\.backup$/,
    isDone: /такой файл уже есть/,
    stateOf: async () => either(existsSync(file) && (await readManifest(file)).parts.length > 0),
  }
}
