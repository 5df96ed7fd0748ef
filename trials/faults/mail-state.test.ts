import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { DESKTOP, testWith } from '../../e2e/testing/journey.ts'
import { countRequests } from '../../e2e/testing/page-actions.ts'
import { profileLink, sendEmail, signInDialog } from '../../e2e/testing/sign-in-actions.ts'
import { closeAfterTest } from '../../server/testing/close-after-test.ts'
import { type Mailbox, openMailbox } from '../../server/testing/mail/mailbox.ts'
import { openRefusingSmtp } from '../../server/testing/mail/smtp-faults.ts'
import { freePort } from '../../server/testing/process/free-port.ts'

const SENT = 'Письмо отправлено'
const RETRYING = 'Письмо задерживается, пробуем ещё'
const REFUSED = 'Такого ящика нет: проверьте адрес'

const port = await freePort()
const test = testWith({ SMTP_URL: `smtp://127.0.0.1:${port}` })

test('while the mail server is unavailable the code step shows that the mail will be sent again, and later that it was sent', async ({
  journey,
}) => {
  const { email } = await journey.signUp()
  const page = await journey.visit({ viewport: DESKTOP })
  await page.getByRole('button', { name: 'Войти' }).click()
  const asked = countRequests(page, 'POST', /\/codes\/[^/]+\/mail$/)
  await sendEmail(page, email)
  const { dialog } = signInDialog(page)
  const status = dialog.getByRole('status')
  await status.getByText(RETRYING).waitFor()
  const before = await dialog.boundingBox()

  const mailbox = closeAfterTest(await openMailbox(port))
  await status.getByText(SENT).waitFor()
  expect(await dialog.boundingBox()).toEqual(before)
  const asks = asked()
  await enterCode(page, mailbox, email)
  expect(asked()).toBe(asks)
})

test('the code step shows that an address does not exist and leads back to it; the corrected address signs in', async ({
  journey,
}) => {
  const refusing = await openRefusingSmtp({ code: 550, words: '5.1.1 unknown', port })
  const { email } = await journey.signUp()
  const page = await journey.visit({ viewport: DESKTOP })
  await page.getByRole('button', { name: 'Войти' }).click()
  await sendEmail(page, email)
  const { dialog, goBack, email: address } = signInDialog(page)
  await dialog.getByRole('status').getByText(REFUSED).waitFor()
  expect(await dialog.getByRole('alert').count()).toBe(0)
  expect(refusing.counts.refusals).toBeGreaterThan(0)
  await refusing.close()

  const mailbox = closeAfterTest(await openMailbox(port))
  const other = await journey.signUp()
  await goBack.click()
  expect(await address.inputValue()).toBe(email)
  await sendEmail(page, other.email)
  await dialog.getByRole('status').getByText(SENT).waitFor()
  await enterCode(page, mailbox, other.email)
})

/** Enters the code to sign in with; the mail of the registration arrives too, in any order. */
async function enterCode(page: Page, mailbox: Mailbox, email: string): Promise<void> {
  const { subject } = await mailbox.mailAbout(email, /код для входа/)
  const reloaded = page.waitForEvent('load')
  await signInDialog(page).code.fill(subject.slice(0, 6))
  await reloaded
  await profileLink(page).waitFor()
}
