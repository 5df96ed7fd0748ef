import { mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import type { Config } from '../../kernel/config/config.ts'
import { createLogger } from '../../kernel/log/logger.ts'
import { databaseForTest } from '../../testing/database/database-for-test.ts'
import { asRoot, folderForTest, mountForTest } from '../../testing/process/folder-for-test.ts'
import { collectLog } from '../../testing/process/log-lines.ts'
import { envOf, runHere } from '../../testing/process/run-command.ts'
import { startMain } from '../../testing/process/start-main.ts'
import { appForTest } from '../../testing/test-app.ts'
import { backupName } from './backup-folder.ts'
import { selectBackupState, storeBackup } from './backup-state.repository.ts'
import { createBackup } from './create-backup.service.ts'
import { createNightlyBackup } from './nightly-backup.task.ts'

type Options = { keep?: number; command?: Config['backupCommand']; commandMs?: number }

async function nightlyForTest({ keep = 2, command, commandMs = 60_000 }: Options = {}) {
  const app = await appForTest()
  const { db, dataDir, databaseUrl: url } = app
  const folder = join(await folderForTest(), 'backups')
  await mkdir(folder)
  const log = collectLog()
  const task = createNightlyBackup({
    ...{ db, url, folder, dataDir, keep, command, commandMs, secret: 's'.repeat(32) },
    log: createLogger('info', log.stream),
  })
  // Keeps the next run from verifying, which takes seconds.
  if (keep > 1) await app.sql`UPDATE installation SET backup_verified_at = now()`
  const run = (signal = new AbortController().signal) => task({ signal })
  return { app, folder, log, run, state: () => selectBackupState(db) }
}

test('the nightly job writes a backup, verifies the first of a week, and keeps the newest and the verified one', async () => {
  const { app, folder, log, run, state } = await nightlyForTest({ keep: 1 })
  const backups = async () => (await readdir(folder)).filter((name) => name.startsWith('vslukh-'))
  const olga = await app.signUp()
  await app.publish(olga)
  expect((await state()).at).toBe(null)
  await run()
  const first = await state()
  expect(first).toMatchObject({ failed: null, verifiedAt: expect.any(Date) })
  expect(first.bytes).toBeGreaterThan(0)
  expect(first.verifiedCopy).toEqual(first.at)
  const [verified = ''] = await backups()

  await run()
  expect((await state()).verifiedAt).toEqual(first.verifiedAt)
  expect(await backups()).toHaveLength(2)
  await app.sql`UPDATE installation SET backup_verified_at = now() - interval '8 days'`
  await app.sql`UPDATE wall_totals SET posts = posts + 3 WHERE slot = 5`
  await run()
  const unverified = await state()
  expect(unverified).toMatchObject({ failed: null, verifiedCopy: first.at })
  expect(unverified.verificationFailed).toMatch(/^Копия неверна: счётчик/)
  expect(Number(unverified.at)).toBeGreaterThan(Number(first.at))
  await log.line('the verification of the nightly backup failed')
  const names = await backups()
  expect(names).toHaveLength(2)
  expect(names).toContain(verified)
  // A backup that somebody makes by hand proves nothing.
  await storeBackup(app.db, { bytes: 1, createdAt: new Date().toISOString() })
  expect((await state()).verificationFailed).not.toBe(null)

  await app.sql`UPDATE wall_totals SET posts = posts - 3 WHERE slot = 5`
  await run()
  const mended = await state()
  expect(mended).toMatchObject({ failed: null, verificationFailed: null })
  expect(mended.verifiedCopy).toEqual(mended.at)
}, 120_000)

test('two walls with one folder remove only their own backups', async () => {
  const { app, folder, run } = await nightlyForTest()
  const others = [
    'vslukh-2020-01-01T00-00-00.000Z.backup',
    'vslukh-2020-01-02T00-00-00.000Z.backup',
  ]
  const secret = 'o'.repeat(32)
  await createBackup(app.databaseUrl, join(folder, others[0] ?? ''), { secret })
  await createBackup(app.databaseUrl, join(folder, others[1] ?? ''), { secret: null })
  for (let night = 0; night < 3; night++) await run()
  const names = (await readdir(folder)).filter((name) => name.startsWith('vslukh-'))
  expect(names).toHaveLength(others.length + 2)
  expect(names).toEqual(expect.arrayContaining(others))
})

test('the backup just made stays, even if a wrong clock has dated an older one after it', async () => {
  const { app, folder, run, state } = await nightlyForTest({ keep: 1 })
  await app.sql`UPDATE installation SET backup_verified_at = now()`
  const future = backupName(new Date('2038-01-01'))
  await createBackup(app.databaseUrl, join(folder, future), { secret: 's'.repeat(32) })
  for (let night = 0; night < 2; night++) await run()
  const { at } = await state()
  expect((await readdir(folder)).sort()).toEqual([backupName(at as Date), future])
})

test('a backup that cannot be written is an error in the log and a sentence in the state, until one succeeds', async () => {
  const { folder, log, run, state } = await nightlyForTest()
  await rm(folder, { recursive: true })
  await writeFile(folder, 'a file where the folder should be')
  await run()
  expect((await state()).failed).toBe(`${folder} — файл, а нужна папка. Исправьте BACKUP_DIR`)
  expect(JSON.parse(await log.line('the nightly backup failed')).level).toBe('error')
  await rm(folder)
  await mkdir(folder)
  await run()
  expect(await state()).toMatchObject({ failed: null, at: expect.any(Date) })
})

test('a backup interrupted by a stop leaves no file and is repeated; files of killed ones are removed', async () => {
  const { folder, run, state } = await nightlyForTest()
  await expect(run(AbortSignal.abort())).rejects.toThrow('aborted')
  expect(await readdir(folder)).toEqual([])
  expect((await state()).failed).toBe(null)

  const [left, fresh] = [
    '.vslukh-2026.backup.012345-1-6789ab',
    '.vslukh-2026.backup.ba9876-1-543210',
  ]
  const verification = join(folder, '.vslukh-verify.012345-1-6789ab')
  await mkdir(verification)
  const others = [left, fresh, 'not-a-backup.txt'].map((name) => join(folder, name))
  for (const path of others) await writeFile(path, 'rows')
  const longAgo = new Date(Date.now() - 86_400_000)
  for (const path of [join(folder, left), verification]) await utimes(path, longAgo, longAgo)
  await run()
  const names = await readdir(folder)
  expect(names).toHaveLength(3)
  expect(names).toEqual(expect.arrayContaining([fresh, 'not-a-backup.txt']))
  await expect(readdir(verification)).rejects.toThrow('ENOENT')
})

asRoot(
  'leftovers are removed before a backup, which may fail because they have filled the disk',
  async () => {
    const { folder, run, state } = await nightlyForTest()
    await mountForTest(folder, 'size=1m')
    const left = join(folder, '.vslukh-2026.backup.0a1b2c-99-4d5e6f')
    await expect(writeFile(left, Buffer.alloc(2_000_000))).rejects.toThrow('ENOSPC')
    const longAgo = new Date(Date.now() - 4 * 3_600_000)
    await utimes(left, longAgo, longAgo)
    await run()
    expect((await state()).failed).toBe(null)
    expect(await readdir(folder)).toHaveLength(1)
  },
)

asRoot.each([0, 1])(
  'a backup fails with a sentence on a disk with room for %i pages',
  async (pages) => {
    const { folder, run, state } = await nightlyForTest()
    await mountForTest(folder, 'size=64k')
    await writeFile(join(folder, 'others'), Buffer.alloc((16 - pages) * 4096))
    await run()
    expect((await state()).failed).toMatch(/^Не записано: .*: на диске не осталось места/)
    expect(await readdir(folder)).toEqual(['others'])
  },
)

test('a missing BACKUP_DIR is reported and not created, unless it is in DATA_DIR', async () => {
  const folder = await folderForTest()
  const own = { ...envOf({ databaseUrl: await databaseForTest() }), DATA_DIR: folder }
  const env = { ...own, LOG_LEVEL: 'info', BACKUP_DIR: join(folder, 'disk/backups') }
  const message = `Папки BACKUP_DIR (${env.BACKUP_DIR}) нет. Подключите её диск или создайте её`
  const server = await startMain(env)
  expect(server.stdout).toContain(`Ночных копий не будет. ${message}.\n`)
  await expect.poll(() => server.stderr).toContain('no nightly backup can be made')
  expect((await runHere(env, ['status'])).out).toContain(`Последняя не удалась: ${message}\n`)
  expect(await readdir(folder)).not.toContain('disk')
  await server.stop()

  const inDataDir = { ...own, BACKUP_DIR: join(folder, 'backups') }
  await (await startMain(inDataDir)).stop()
  expect(await readdir(folder)).toContain('backups')
})

test('BACKUP_COMMAND gets the path but no settings of the wall; its failure is shown until it succeeds', async () => {
  const folder = await folderForTest()
  const env = { PATH: process.env.PATH ?? '', RCLONE_CONFIG: '/etc/vslukh/rclone.conf' }
  const line = `test -e ${folder}/away || { echo to https://olga:hunter2@away.test; exit 7; }
    printf '%s\n' "$1" "$VSLUKH_BACKUP" > ${folder}/ran; env >> ${folder}/ran`
  const { app, log, run, state, ...nightly } = await nightlyForTest({ command: { line, env } })
  await run()
  const failed = 'BACKUP_COMMAND: код 7, to https://***@away.test'
  expect(await state()).toMatchObject({ failed: null, commandFailed: failed })
  const logged = { level: 'error', err: { message: failed } }
  expect(JSON.parse(await log.line('BACKUP_COMMAND failed'))).toMatchObject(logged)
  const settings = { ...envOf(app), BACKUP_DIR: nightly.folder, BACKUP_COMMAND: line }
  const says = async (...args: string[]) => (await runHere(settings, args)).out
  expect(await says('status')).toContain(`Последняя осталась только здесь, ${failed}`)
  await says('backup', await folderForTest())
  const { findings } = JSON.parse(await says('doctor', '--json'))
  expect(findings).toContainEqual({
    check: 'backup command',
    level: 'broken',
    message: `последняя копия осталась только здесь, ${failed}`,
    fix: expect.stringMatching(/Запустите команду .*docs\/operations\.md/),
  })
  expect(log.lines.join() + (await says('status'))).not.toContain('hunter2')

  await writeFile(join(folder, 'away'), '')
  await run()
  expect(await state()).toMatchObject({ failed: null, commandFailed: null })
  const [path = '', same, ...variables] = (await readFile(join(folder, 'ran'), 'utf8')).split('\n')
  expect(same).toBe(path)
  expect(await readdir(nightly.folder)).toContain(basename(path))
  expect(variables).toContain('RCLONE_CONFIG=/etc/vslukh/rclone.conf')
  expect(variables.join()).not.toMatch(/DATABASE_URL|APP_SECRET|SMTP_URL|PG/)
})

test('a BACKUP_COMMAND that hangs or is interrupted leaves no process; an interrupted one runs again', async () => {
  const line = `trap '' TERM; sleep 1000 & echo $! > sleeper; echo copying 9 %; wait; wait`
  const command = { line, env: { PATH: process.env.PATH ?? '' } }
  const hanging = await nightlyForTest({ command, commandMs: 500 })
  const expectNobody = async (folder: string) => {
    const sleeper = (await readFile(join(folder, 'sleeper'), 'utf8')).trim()
    // Of a process that has ended and that nobody has waited for, it is empty.
    const commandLine = () => readFile(`/proc/${sleeper}/cmdline`, 'utf8').catch(() => '')
    await expect.poll(commandLine).toBe('')
  }
  await hanging.run()
  const { at, commandFailed } = await hanging.state()
  expect(at).not.toBe(null)
  expect(commandFailed).toMatch(/^BACKUP_COMMAND: не закончилась за .* ч и остановлена$/)
  await expectNobody(hanging.folder)

  const { folder, run, state } = await nightlyForTest({ command })
  const ending = new AbortController()
  const running = run(ending.signal)
  const isCopying = () => readFile(join(folder, 'sleeper'), 'utf8').catch(() => '')
  await expect.poll(isCopying).toMatch(/\d\n/)
  ending.abort()
  await expect(running).rejects.toThrow('aborted')
  await expectNobody(folder)
  expect(await state()).toMatchObject({ failed: null, commandFailed: null })
})
