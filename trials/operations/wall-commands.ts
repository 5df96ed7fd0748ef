import { createClient } from '../../server/testing/http/client.ts'
import { mailboxForTest } from '../../server/testing/mail/mailbox.ts'
import { startMain } from '../../server/testing/process/start-main.ts'

export const EMAIL = 'olga@example.org'

/** Starts the product and returns a client of it, which reads its mails. */
export async function startWall(env: Record<string, string>) {
  const mailbox = await mailboxForTest()
  const started = await startMain({ SMTP_URL: mailbox.url, MAIL_MODE: 'smtp', ...env })
  const { url } = started
  if (!url) throw new Error(`${started.stdout}${started.stderr}`)
  const codeFor = () => mailbox.codeFor(EMAIL)
  return { ...started, client: createClient(url, { check() {}, codeFor }) }
}
