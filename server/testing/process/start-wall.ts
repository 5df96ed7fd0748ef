import { createClient } from '../http/client.ts'
import { mailboxForTest } from '../mail/mailbox.ts'
import { startMain } from './start-main.ts'

export const EMAIL = 'olga@example.org'

/** Starts the product with a mailbox. The client can sign in as EMAIL, by its mails. */
export async function startWall(env: Record<string, string>) {
  const mailbox = await mailboxForTest()
  const started = await startMain({ SMTP_URL: mailbox.url, MAIL_MODE: 'smtp', ...env })
  const { url } = started
  if (!url) throw new Error(`${started.stdout}${started.stderr}`)
  const codeFor = () => mailbox.codeFor(EMAIL)
  return { ...started, mailbox, client: createClient(url, { check() {}, codeFor }) }
}
