import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readManifest } from '../../server/operations/backup/backup-file.ts'
import { emptyDatabase } from '../../server/testing/database/backups.ts'
import { folderForTest } from '../../server/testing/process/folder-for-test.ts'
import { runCommand } from '../../server/testing/process/run-command.ts'
import { BACKUP, either, expectRight, IN_ALL } from './commands.ts'

const WORK = 'trials/failing-calls/server-work.ts'

test('a mail in a file', IN_ALL, async () => {
  const disk = join(await folderForTest(), 'disk')
  const mails = join(disk, 'mail')
  const complete = async (name: string) =>
    (await readFile(join(mails, name), 'utf8')).includes('\r\n\r\n')
  await expectRight({
    ...{ script: WORK, args: ['mail'], env: { DATA_DIR: disk }, disk },
    mayBeThere: /^mail$|^mail\/[^.][^/]*\.eml$/,
    // A file that a kill leaves has the name of its mail, and goes with the mails of its day.
    removedLater: /^mail\/\..*\.eml\.[\w-]+$/,
    stateOf: async () => {
      const names = existsSync(mails)
        ? (await readdir(mails)).filter((name) => /^[^.].*eml$/.test(name))
        : []
      for (const name of names) expect(await complete(name)).toBe(true)
      return either(names.length > 0)
    },
  })
})

test('the list of deletions', IN_ALL, async () => {
  const disk = join(await folderForTest(), 'disk')
  const list = join(disk, 'deletions.jsonl')
  await expectRight({
    ...{ script: WORK, args: ['note deletions'], env: { DATA_DIR: disk }, disk },
    mayBeThere: /^deletions\.jsonl$/,
    stateOf: async () =>
      either(existsSync(list) && /^\{"id":"7".*\}$/m.test(await readFile(list, 'utf8'))),
  })
})

test('old lines of the list of deletions', IN_ALL, async () => {
  const disk = join(await folderForTest(), 'disk')
  const list = join(disk, 'deletions.jsonl')
  const line = (id: number, notedAt: string) => `\n{"id":"${id}","notedAt":"${notedAt}"}\n`
  const [old, kept] = [line(1, '2025-01-01T00:00:00.000Z'), line(2, '2026-10-01T00:00:00.000Z')]
  await expectRight({
    ...{ script: WORK, args: ['prune deletions'], env: { DATA_DIR: disk }, disk },
    prepare: () => writeFile(list, old + kept),
    mayBeThere: /^deletions\.jsonl$/,
    stateOf: async () => {
      const text = await readFile(list, 'utf8')
      expect(text).toContain(kept)
      return either(!text.includes(old))
    },
  })
})

test('the nightly backup', IN_ALL, async () => {
  const folder = await folderForTest()
  const disk = join(folder, 'disk')
  const env = { DATABASE_URL: await emptyDatabase(), DATA_DIR: disk }
  expect(
    await runCommand({ ...env, DATA_DIR: join(folder, 'data') }, 'restore', BACKUP),
  ).toMatchObject({ code: 0 })
  const backups = join(disk, 'backups')
  await expectRight({
    ...{ script: WORK, args: ['nightly backup'], env, disk },
    prepare: () => mkdir(backups),
    mayBeThere: /^backups$|^backups\/vslukh-[^/]*\.backup$/,
    removedLater: /\/\.vslukh-.*\.backup\.[0-9a-f]{6}-\d+-[0-9a-f]{6}$/,
    stateOf: async () => {
      const names = (await readdir(backups)).filter((name) => name.startsWith('vslukh-'))
      for (const name of names) await readManifest(join(backups, name))
      return either(names.length > 0)
    },
  })
})
