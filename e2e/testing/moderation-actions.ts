import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Post } from '../../contract/posts.ts'
import { emailKey } from '../../server/kernel/mail/email-address.ts'
import type { TestUser } from '../../server/testing/http/client.ts'
import { tap, write } from './hands.ts'
import { desktopTest, type Journey } from './journey.ts'
import { chooseFromMenu, postWith } from './page/feed.ts'

/** Tests on a wide screen in which Vera decides about Olga's reports of Petr's posts. */
export const test = desktopTest
  .extend('moderator', { scope: 'file' }, ({ site }) => signUpModerator(site))
  .extend('vera', { auto: true }, ({ moderator }) => moderator)
  .extend('queue', ({ journey, olga, petr }) => ({
    visit: (as: TestUser) => journey.visit({ as, path: '/moderation' }),
    /** Publishes a post, which Olga reports. */
    async report(text: string, author = petr): Promise<Post> {
      const post = await journey.publish(author, text)
      await reportByApi(journey, olga, post)
      return post
    },
  }))

export async function signUpModerator({ signUp, rows }: Pick<Journey, 'signUp' | 'rows'>) {
  const user = await signUp()
  const values = [user.email, emailKey(user.email)]
  await rows('INSERT INTO moderators (email, email_key, is_marked) VALUES ($1, $2, true)', values)
  return user
}

export async function reportByApi(
  { call }: Pick<Journey, 'call'>,
  { token }: TestUser,
  { id }: Post,
) {
  expect((await call('POST', `/posts/${id}/reports?reason_id=1`, { token })).status).toBe(204)
}

export async function reportByDialog(
  page: Page,
  { text, comment }: { text: string; comment: string },
): Promise<void> {
  await chooseFromMenu(postWith(page, text), 'Пожаловаться')
  const dialog = page.getByRole('dialog', { name: 'Пожаловаться' })
  await dialog.getByRole('radio', { name: 'Другое нарушение' }).check()
  await write(dialog.getByLabel('Что нарушено?'), comment)
  await tap(dialog.getByRole('button', { name: 'Отправить' }))
  await dialog.waitFor({ state: 'detached' })
}

/** Waits until the only report stands once in the reporter's list and in the moderators' queue. */
export async function untilListedOnce(journey: Journey, page: Page): Promise<void> {
  await page.goto(`${journey.url}/settings/reports`)
  const own = page.getByText('На рассмотрении')
  await own.waitFor()
  expect(await own.count()).toBe(1)
  const moderator = await signUpModerator(journey)
  const queue = await journey.visit({ as: moderator, path: '/moderation' })
  await queue.getByText('Ждут решения: 1').waitFor()
  await queue.getByText('Пожаловался 1 человек').waitFor()
}

export function act(card: Locator, name: string | RegExp): Promise<void> {
  return tap(card.getByRole('button', { name }))
}
