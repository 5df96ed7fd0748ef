import { onTestFinished } from 'vitest'
import type { Config } from '../config.ts'
import { type Mailbox, openMailbox } from './mailbox.ts'
import { appForTest, type TestApp } from './test-app.ts'

/** Starts an app for one test whose mails arrive in a mailbox; both close when it is over. */
export async function mailAppForTest(
  config: Partial<Config> = {},
): Promise<{ app: TestApp; mailbox: Mailbox }> {
  const mailbox = await openMailbox()
  onTestFinished(() => mailbox.close())
  const app = await appForTest({ config: { ...config, smtpUrl: mailbox.url } })
  return { app, mailbox }
}
