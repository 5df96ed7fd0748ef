import { text } from 'node:stream/consumers'
import type { Page } from 'playwright-core'
import { expect, test as testWithoutPage } from 'vitest'
import { DESKTOP, testWith } from '../../e2e/testing/journey.ts'
import { countRequests } from '../../e2e/testing/page/network.ts'
import {
  askForCode,
  enterCode,
  profileLink,
  sendEmail,
  signInDialog,
} from '../../e2e/testing/sign-in-actions.ts'
import { createSmtpSender, toMessage } from '../../server/kernel/mail/smtp.ts'
import { type Mailbox, mailboxForTest, openMailbox } from '../../server/testing/mail/mailbox.ts'
import { freePort } from '../../server/testing/process/free-port.ts'

const SENT = 'Письмо отправлено'
const RETRYING = 'Письмо задерживается, пробуем ещё'
const REFUSED = 'Такого ящика нет: проверьте адрес'

const port = await freePort()
const test = testWith({ SMTP_URL: `smtp://127.0.0.1:${port}` }).extend('viewport', DESKTOP)

test('while the mail server is unavailable the code step shows that the mail will be sent again, and later that it was sent', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit()
  const asked = countRequests(page, 'POST', /\/codes\/[^/]+\/mail$/)
  await askForCode(page, olga.email)
  const { dialog } = signInDialog(page)
  const status = dialog.getByRole('status')
  await status.getByText(RETRYING).waitFor()
  const before = await dialog.boundingBox()

  const mailbox = await mailboxForTest(port)
  await status.getByText(SENT).waitFor()
  expect(await dialog.boundingBox()).toEqual(before)
  const asks = asked()
  await signInByMail(page, mailbox, olga.email)
  expect(asked()).toBe(asks)
})

test('the code step shows that an address does not exist and leads back to it; the corrected address signs in', async ({
  journey,
  olga,
  petr,
}) => {
  const refusing = await openMailbox(port, { refusal: { code: 550, words: '5.1.1 unknown' } })
  const page = await journey.visit()
  await askForCode(page, olga.email)
  const { dialog, goBack, email, error } = signInDialog(page)
  await dialog.getByRole('status').getByText(REFUSED).waitFor()
  expect(await error.count()).toBe(0)
  expect(refusing.counts.refusals).toBeGreaterThan(0)
  await refusing.close()

  const mailbox = await mailboxForTest(port)
  await goBack.click()
  expect(await email.inputValue()).toBe(olga.email)
  await sendEmail(page, petr.email)
  await dialog.getByRole('status').getByText(SENT).waitFor()
  await signInByMail(page, mailbox, petr.email)
})

async function signInByMail(page: Page, mailbox: Mailbox, email: string): Promise<void> {
  const { subject } = await mailbox.mailAbout(email, /код для входа/)
  await enterCode(page, subject.slice(0, 6))
  await profileLink(page).waitFor()
}

testWithoutPage('a relay may read a mail for 12 s before it accepts it', async () => {
  const { url } = await mailboxForTest(0, {
    onData: (stream, _, accept) => void text(stream).then(() => setTimeout(accept, 12_000)),
  })
  const from = { name: 'Вслух', address: 'no-reply@vsluh.example' }
  const mail = { to: 'olga@example.org', subject: 'Код', text: 'Код' }
  expect(await createSmtpSender({ url })(toMessage(mail, from))).toMatch(/^250/)
})
