import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { readConfig } from '../../kernel/config/config.ts'
import { createLogger } from '../../kernel/log/logger.ts'
import { databaseForTest } from '../../testing/database/database-for-test.ts'
import {
  asRootWithFuse,
  folderForTest,
  hangForTest,
} from '../../testing/process/folder-for-test.ts'
import { envOf, runCommand } from '../../testing/process/run-command.ts'
import { startMain } from '../../testing/process/start-main.ts'
import { mailAppForTest } from '../../testing/test-app.ts'
import { watchHealth } from '../doctor/doctor.service.ts'
import type { Finding } from '../doctor/finding.ts'
import { mailBrokenBackups } from './backup.mail.ts'

async function hangingFolder() {
  const folder = join(await folderForTest(), 'backups')
  await mkdir(folder)
  return { folder, ...(await hangForTest(folder)) }
}

asRootWithFuse(
  'while the folder of backups hangs, the server starts, serves and ends, and status and doctor say so',
  async () => {
    const { folder } = await hangingFolder()
    const env = {
      ...envOf({ databaseUrl: await databaseForTest() }),
      DATA_DIR: await folderForTest(),
      BACKUP_DIR: folder,
      PUBLIC_URL: '',
    }
    const server = await startMain(env)
    const why = 'диск не отвечает. Подключите его заново'
    expect(server.stdout).toContain(`Ночных копий не будет. BACKUP_DIR (${folder}): ${why}.`)
    const [status, doctor] = await Promise.all([
      runCommand(env, 'status'),
      runCommand(env, 'doctor'),
    ])
    expect(status.code).toBe(0)
    expect(status.out).toContain(`Последняя не удалась: BACKUP_DIR (${folder}): ${why}`)
    expect(doctor.code).toBe(1)
    expect(doctor.out).toContain(`папка копий ${folder} не открывается: ${why}`)
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    await server.stop()
  },
  120_000,
)

asRootWithFuse(
  'a folder of backups that hangs is mailed to the operator, once a day',
  async () => {
    const { folder } = await hangingFolder()
    const moderatorEmails = ['operator@example.org']
    const { app, mailbox } = await mailAppForTest({ moderatorEmails })
    const config = { ...readConfig({ DATA_DIR: app.dataDir }), backupDir: folder, moderatorEmails }
    const mailed: Promise<void>[] = []
    const onBroken = (finding: Finding) => {
      const mailing = mailBrokenBackups(app.db, finding, config)
      if (finding.check === 'backup') mailed.push(mailing)
      return mailing
    }
    const log = createLogger('silent')
    for (let starts = 1; starts <= 2; starts++) {
      onTestFinished(watchHealth({ db: app.db, config }, { log, onBroken, firstMs: 1 }))
      await expect.poll(() => mailed.length, { timeout: 20_000 }).toBe(starts)
    }
    await Promise.all(mailed)
    const { text } = await mailbox.mailTo('operator@example.org')
    expect(text).toContain('диск не отвечает')
    expect(mailbox.mails).toHaveLength(1)
  },
  60_000,
)
