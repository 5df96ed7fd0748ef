import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { emailKey } from '../../server/kernel/mail/email-address.ts'
import type { TestUser } from '../../server/testing/client.ts'
import { type JourneyWithMail, startJourneyWithMail } from './journey-with-mail.ts'
import { chooseFromMenu, postWith } from './page-actions.ts'

export type ModeratedJourney = Awaited<ReturnType<typeof startModeratedJourney>>

/** Olga reports, Petr writes and Vera decides. The caller closes the journey. */
export async function startModeratedJourney(env: Record<string, string> = {}) {
  const journey = await startJourneyWithMail({ ACCESS_TOKEN_SECONDS: '3600', ...env })
  const olga = await journey.signUp()
  const petr = await journey.signUp()
  const vera = await signUpModerator(journey)
  return {
    ...journey,
    olga,
    petr,
    vera,
    async publishReported(text: string, author = petr) {
      const post = await journey.publish(author, text)
      await reportByApi(journey, olga, { postId: post.id })
      return post
    },
    visitQueue: (as: TestUser) => journey.visit({ as, path: '/moderation' }),
    async emptyQueue(): Promise<void> {
      await journey.sql.query('TRUNCATE reports, appeals, blocks')
      await journey.emptyWall()
    },
  }
}

export async function signUpModerator({ signUp, sql }: ModeratedProduct): Promise<TestUser> {
  const user = await signUp()
  await sql.query('INSERT INTO moderators (email, email_key) VALUES ($1, $2)', [
    user.email,
    emailKey(user.email),
  ])
  return user
}

type ModeratedProduct = Pick<JourneyWithMail, 'signUp' | 'sql'>

export async function reportByApi(
  { call }: Pick<JourneyWithMail, 'call'>,
  { token }: TestUser,
  { postId, reasonId = 1 }: { postId: string; reasonId?: number },
): Promise<void> {
  const path = `/posts/${postId}/reports?reason_id=${reasonId}`
  expect((await call('POST', path, { token, body: {} })).status).toBe(204)
}

export async function reportByDialog(
  page: Page,
  { text, comment }: { text: string; comment: string },
): Promise<void> {
  await chooseFromMenu(postWith(page, text), 'Пожаловаться')
  const dialog = page.getByRole('dialog', { name: 'Пожаловаться' })
  await dialog.getByRole('radio', { name: 'Другое нарушение' }).check()
  await dialog.getByLabel('Что нарушено?').fill(comment)
  await dialog.getByRole('button', { name: 'Отправить' }).click()
  await dialog.waitFor({ state: 'detached' })
}

export function act(card: Locator, name: string | RegExp): Promise<void> {
  return card.getByRole('button', { name }).click()
}
