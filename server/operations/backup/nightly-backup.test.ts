import { mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { createLogger } from '../../kernel/log/logger.ts'
import { databaseForTest } from '../../testing/database-for-test.ts'
import { folderForTest } from '../../testing/folder-for-test.ts'
import { collectLog } from '../../testing/log-lines.ts'
import { envOf, runHere } from '../../testing/run-command.ts'
import { startMain } from '../../testing/start-main.ts'
import { appForTest, type TestApp } from '../../testing/test-app.ts'
import { selectBackupState, storeBackup } from './backup-state.repository.ts'
import { createNightlyBackup } from './nightly-backup.task.ts'
import { makeVerifyFolder } from './verify.service.ts'

async function nightlyForTest(keep: number, { command = '', commandMs = 60_000, env = {} } = {}) {
  const app = await appForTest()
  const parent = await folderForTest()
  const folder = join(parent, 'backups')
  await mkdir(folder)
  const log = collectLog()
  const run = createNightlyBackup({
    db: app.db,
    url: app.databaseUrl,
    folder,
    dataDir: app.dataDir,
    keep,
    command: command === '' ? undefined : { line: command, env },
    commandMs,
    secret: 's'.repeat(32),
    log: createLogger('info', log.stream),
  })
  return { app, folder, log, run }
}

/** The process goes on. */
const going = { signal: new AbortController().signal }
/** Keeps the next run from verifying, which takes seconds. */
const pretendVerified = ({ db }: TestApp) =>
  sql`UPDATE installation SET backup_verified_at = now()`.execute(db)
const LONG_AGO = new Date(Date.now() - 7_200_000)

test('the nightly job writes a backup, verifies the first of a week, and keeps the newest and the verified one', {
  timeout: 120_000,
}, async () => {
  const { app, folder, log, run } = await nightlyForTest(1)
  const backups = async () => (await readdir(folder)).filter((name) => name.startsWith('vslukh-'))
  const olga = await app.signUp()
  await app.publish(olga)
  expect((await selectBackupState(app.db)).at).toBe(null)
  await run(null, going)
  const first = await selectBackupState(app.db)
  expect(first).toMatchObject({ failed: null, verifiedAt: expect.any(Date) })
  expect(first.bytes).toBeGreaterThan(0)
  expect(first.verifiedCopy).toEqual(first.at)
  const [verified = ''] = await backups()

  await run(null, going)
  expect((await selectBackupState(app.db)).verifiedAt).toEqual(first.verifiedAt)
  expect(await backups()).toHaveLength(2)
  await sql`UPDATE installation SET backup_verified_at = now() - interval '8 days'`.execute(app.db)
  await sql`UPDATE wall_totals SET posts = posts + 3 WHERE slot = 5`.execute(app.db)
  await run(null, going)
  const unverified = await selectBackupState(app.db)
  expect(unverified).toMatchObject({ failed: null, verifiedCopy: first.at })
  expect(unverified.verificationFailed).toMatch(/^Копия неверна: счётчик/)
  expect(Number(unverified.at)).toBeGreaterThan(Number(first.at))
  await log.line('the verification of the nightly backup failed')
  const names = await backups()
  expect(names).toHaveLength(2)
  expect(names).toContain(verified)
  // A backup that somebody makes by hand proves nothing.
  await storeBackup(app.db, { bytes: 1, createdAt: new Date().toISOString() })
  expect((await selectBackupState(app.db)).verificationFailed).not.toBe(null)

  await sql`UPDATE wall_totals SET posts = posts - 3 WHERE slot = 5`.execute(app.db)
  await run(null, going)
  const mended = await selectBackupState(app.db)
  expect(mended).toMatchObject({ failed: null, verificationFailed: null })
  expect(mended.verifiedCopy).toEqual(mended.at)
})

test('a backup that cannot be written is an error in the log and a sentence in the state, until one succeeds', {
  timeout: 60_000,
}, async () => {
  const { app, folder, log, run } = await nightlyForTest(2)
  await rm(folder, { recursive: true })
  await writeFile(folder, 'a file where the folder should be')
  await run(null, going)
  expect((await selectBackupState(app.db)).failed).toBe(
    `${folder} — файл, а нужна папка. Исправьте BACKUP_DIR`,
  )
  expect(JSON.parse(await log.line('the nightly backup failed')).level).toBe('error')
  await rm(folder)
  // It may be a disk that is not mounted.
  await run(null, going)
  expect((await selectBackupState(app.db)).failed).toBe(
    `Папки BACKUP_DIR (${folder}) нет. Подключите её диск или создайте её`,
  )
  await expect(readdir(folder)).rejects.toThrow('ENOENT')
  await mkdir(folder)
  await pretendVerified(app)
  await run(null, going)
  expect(await selectBackupState(app.db)).toMatchObject({ failed: null, at: expect.any(Date) })
})

test('a backup interrupted by a stop leaves no file and is repeated; files of killed ones are removed', {
  timeout: 60_000,
}, async () => {
  const { app, folder, run } = await nightlyForTest(2)
  await expect(run(null, { signal: AbortSignal.abort() })).rejects.toThrow('aborted')
  expect(await readdir(folder)).toEqual([])
  expect((await selectBackupState(app.db)).failed).toBe(null)

  const [left, fresh] = ['0123456789ab', 'ba9876543210'].map((end) => `.vslukh-2026.backup.${end}`)
  const verification = await makeVerifyFolder(folder)
  for (const path of [join(folder, left ?? ''), join(folder, fresh ?? '')]) {
    await writeFile(path, 'rows')
  }
  await writeFile(join(folder, 'not-a-backup.txt'), '')
  await utimes(join(folder, left ?? ''), LONG_AGO, LONG_AGO)
  await utimes(verification, LONG_AGO, LONG_AGO)
  await pretendVerified(app)
  await run(null, going)
  const names = await readdir(folder)
  expect(names).toHaveLength(3)
  expect(names).toEqual(expect.arrayContaining([fresh, 'not-a-backup.txt']))
  await expect(readdir(verification)).rejects.toThrow('ENOENT')
})

test('a missing BACKUP_DIR is reported and not created, unless it is in DATA_DIR', {
  timeout: 60_000,
}, async () => {
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

test('BACKUP_COMMAND gets the path but no settings of the wall; its failure is shown until it succeeds', {
  timeout: 60_000,
}, async () => {
  const folder = await folderForTest()
  const env = { PATH: process.env.PATH ?? '', RCLONE_CONFIG: '/etc/vslukh/rclone.conf' }
  const command = `test -e ${folder}/away || { echo to https://olga:hunter2@away.test; exit 7; }
    printf '%s\n' "$1" "$VSLUKH_BACKUP" > ${folder}/ran; env >> ${folder}/ran`
  const { app, log, run, folder: backups } = await nightlyForTest(2, { command, env })
  await pretendVerified(app)
  await run(null, going)
  const failed = 'BACKUP_COMMAND: код 7, to https://***@away.test'
  expect(await selectBackupState(app.db)).toMatchObject({ failed: null, commandFailed: failed })
  expect(JSON.parse(await log.line('BACKUP_COMMAND failed'))).toMatchObject({
    level: 'error',
    err: { message: failed },
  })
  const settings = { ...envOf(app), BACKUP_DIR: backups, BACKUP_COMMAND: command }
  const says = async (...args: string[]) => (await runHere(settings, args)).out
  expect(await says('status')).toContain(failed)
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
  await run(null, going)
  expect(await selectBackupState(app.db)).toMatchObject({ failed: null, commandFailed: null })
  const [path = '', same, ...variables] = (await readFile(join(folder, 'ran'), 'utf8')).split('\n')
  expect(same).toBe(path)
  expect((await readdir(backups)).map((name) => join(backups, name))).toContain(path)
  expect(variables).toContain('RCLONE_CONFIG=/etc/vslukh/rclone.conf')
  expect(variables.join()).not.toMatch(/DATABASE_URL|APP_SECRET|SMTP_URL|PG/)
})

test('a BACKUP_COMMAND that hangs or is interrupted leaves no process; an interrupted one runs again', {
  timeout: 60_000,
}, async () => {
  const command = `trap '' TERM; sleep 1000 & echo $! > sleeper; echo copying 9 %; wait; wait`
  const env = { PATH: process.env.PATH ?? '' }
  const hanging = await nightlyForTest(2, { command, env, commandMs: 500 })
  await pretendVerified(hanging.app)
  const expectNobody = async (folder: string) => {
    const sleeper = (await readFile(join(folder, 'sleeper'), 'utf8')).trim()
    // Of a process that has ended and that nobody has waited for, it is empty.
    const commandLine = () => readFile(`/proc/${sleeper}/cmdline`, 'utf8').catch(() => '')
    await expect.poll(commandLine).toBe('')
  }
  await hanging.run(null, going)
  const { at, commandFailed } = await selectBackupState(hanging.app.db)
  expect(at).not.toBe(null)
  expect(commandFailed).toMatch(/^BACKUP_COMMAND: не закончилась за .* ч и остановлена$/)
  await expectNobody(hanging.folder)

  const { app, folder, run } = await nightlyForTest(2, { command, env })
  const ending = new AbortController()
  const running = run(null, { signal: ending.signal })
  const isCopying = () => readFile(join(folder, 'sleeper'), 'utf8').catch(() => '')
  await expect.poll(isCopying, { timeout: 20_000 }).toMatch(/\d\n/)
  ending.abort()
  await expect(running).rejects.toThrow('aborted')
  await expectNobody(folder)
  expect(await selectBackupState(app.db)).toMatchObject({ failed: null, commandFailed: null })
})
