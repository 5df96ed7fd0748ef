import type { Locator, Page } from 'playwright-core'
import type { TestUser } from '../../server/testing/http/client.ts'
import { enterDigits, tap, write } from './hands.ts'
import type { Journey } from './journey.ts'

export function signInDialog(page: Page) {
  const dialog = page.getByRole('dialog')
  return {
    dialog,
    email: dialog.getByLabel('Электронная почта'),
    code: dialog.getByLabel('Код подтверждения'),
    error: dialog.getByRole('alert'),
    proceed: dialog.getByRole('button', { name: 'Продолжить' }),
    goBack: dialog.getByRole('button', { name: 'Вернуться', exact: true }),
  }
}

export async function askForCode(page: Page, email: string): Promise<void> {
  await tap(signInButton(page))
  await sendEmail(page, email)
}

export async function sendEmail(page: Page, email: string): Promise<void> {
  const step = signInDialog(page)
  await write(step.email, email)
  await step.email.press('Enter')
  await step.code.waitFor()
}

/** Sends an address without an account, and agrees to register with it. */
export async function sendNewEmail(page: Page, email: string): Promise<void> {
  const step = signInDialog(page)
  await write(step.email, email)
  await step.email.press('Enter')
  await step.goBack.waitFor()
  await tap(step.proceed)
  await step.code.waitFor()
}

/** Types the mailed code and waits until the page has reloaded. */
export async function enterCode(page: Page, code: string): Promise<void> {
  const reloaded = page.waitForEvent('load')
  await enterDigits(signInDialog(page).code, code)
  await reloaded
}

export async function signInThrough(journey: Journey, page: Page, email: string): Promise<void> {
  await sendEmail(page, email)
  await enterCode(page, await journey.nextCode(email))
}

type Change = { former: TestUser; next: TestUser }

/** Signs `next` in instead of `former` in another tab of the page's browser. */
export async function changeUserInOtherTab(
  journey: Journey,
  page: Page,
  change: Change,
): Promise<void> {
  const other = await signInElsewhere(journey, page, change)
  await other.evaluate(() => new BroadcastChannel('session').postMessage(null))
  await page.getByRole('link', { name: `Профиль ${change.next.username}` }).waitFor()
}

/** Changes the user as changeUserInOtherTab(), but does not tell the page. Returns the other tab. */
export async function signInElsewhere(
  journey: Journey,
  page: Page,
  { former, next }: Change,
): Promise<Page> {
  const { cookie } = await journey.signIn(next.email, former.clientToken)
  const [name = '', value = ''] = cookie.split('=')
  await page.context().addCookies([{ name, value, url: journey.url }])
  await endSessions(journey, former)
  const other = await page.context().newPage()
  await other.goto(journey.url)
  return other
}

/** Ends a user's sessions as if they had expired. */
export async function endSessions(journey: Journey, { id }: TestUser): Promise<void> {
  await journey.rows('DELETE FROM sessions WHERE user_id = $1', [id])
}

export function profileLink(page: Page): Locator {
  return page.getByRole('link', { name: /^Профиль / })
}

export function signInButton(page: Page): Locator {
  return page.getByRole('banner').getByRole('button', { name: 'Войти' })
}

export function otherThan(code: string): string {
  return code === '000000' ? '111111' : '000000'
}

/** `email` or `one-time-code`. */
export function focusedAutocomplete(page: Page): Promise<string | null | undefined> {
  return page.evaluate(() => document.activeElement?.getAttribute('autocomplete')?.split(' ', 1)[0])
}

export function descriptionOfFocus(page: Page): Promise<string> {
  return page.evaluate(() => {
    const ids = document.activeElement?.getAttribute('aria-describedby')?.split(' ') ?? []
    return ids.map((id) => document.getElementById(id)?.textContent).join(' ')
  })
}
