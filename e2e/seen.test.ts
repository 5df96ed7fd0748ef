import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Journey, Visit } from './testing/journey.ts'
import { test } from './testing/moderation-actions.ts'
import { postWith } from './testing/page/feed.ts'
import { toast } from './testing/page/overlays.ts'
import { openHidden, setVisibility } from './testing/page/tab.ts'
import { profileLink } from './testing/sign-in-actions.ts'

/** Opens a page in the background, and waits until it has rested. */
async function visitHidden(journey: Journey, options: Visit): Promise<Page> {
  const page = await journey.visit({ ...options, before: openHidden })
  await page.waitForLoadState('networkidle')
  return page
}

test('replies count as seen once their page is visible', async ({ journey, olga, petr }) => {
  const post = await journey.publish(olga, 'Вопрос')
  await journey.reply(petr, post.id, 'Ответ')
  const unread = async () => (await journey.read('/users/current/received', olga)).unread
  const page = await visitHidden(journey, { as: olga, path: '/replies' })
  await postWith(page, 'Ответ').getByText('Новый ответ').waitFor()
  await page.waitForLoadState('networkidle')
  expect(await unread()).toBe(1)
  await setVisibility(page, 'visible')
  await expect.poll(unread).toBe(0)
  expect(await postWith(page, 'Ответ').getByText('Новый ответ').count()).toBe(1)
})

test('an outcome counts as seen once its page is visible, and is told to nobody in the background', async ({
  journey,
  vera,
  olga,
  queue,
}) => {
  const { id } = await queue.report('Спам')
  const decision = { token: vera.token, body: { verdict: 'remove' } }
  await journey.call('POST', `/moderation/posts/${id}/decision`, decision)
  const isNew = async () => (await journey.read('/users/current/reports', olga)).reports[0].isNew
  const reports = await visitHidden(journey, { as: olga, path: '/settings/reports' })
  await reports.getByText('Запись удалена').waitFor()
  await reports.waitForLoadState('networkidle')
  expect(await isNew()).toBe(true)

  const wall = await visitHidden(journey, { as: olga })
  await profileLink(wall).waitFor()
  await wall.waitForLoadState('networkidle')
  expect(await stored(wall, `told-outcomes ${olga.id}`)).toBeNull()
  await setVisibility(wall, 'visible')
  await toast(wall, 'Спасибо: по вашей жалобе запись удалена').waitFor()

  await setVisibility(reports, 'visible')
  await expect.poll(isNew).toBe(false)
})

test('a removal, a thread and the welcome count as seen once they are visible', async ({
  journey,
  petr,
}) => {
  const post = await journey.publish(petr, 'Останется')
  const { id } = await journey.publish(petr, 'Спорная запись')
  await journey.removePosts('id', id)
  const marks = [
    {
      page: await visitHidden(journey, { viewport: { width: 390, height: 844 } }),
      key: 'intro-seen',
    },
    {
      page: await visitHidden(journey, { as: petr, path: '/own/posts' }),
      key: `told-removal ${petr.id}`,
    },
    { page: await visitHidden(journey, { as: petr, path: `/posts/${post.id}` }), key: 'threads' },
  ]
  await marks[1]?.page.getByText('Спорная запись').waitFor()
  for (const { page, key } of marks) {
    expect(await stored(page, key)).toBeNull()
    await setVisibility(page, 'visible')
    await expect.poll(() => stored(page, key)).not.toBeNull()
  }
})

function stored(page: Page, key: string): Promise<string | null> {
  return page.evaluate((name) => localStorage.getItem(name), key)
}
