import type { Locator } from 'playwright-core'
import { expect } from 'vitest'
import { test } from './testing/journey.ts'
import { chooseFromMenu, openTab, postTexts, postWith, switchView } from './testing/page-actions.ts'

test('a post that is no longer liked stays in «Понравившиеся» until the next visit', async ({
  journey,
  olga,
  petr,
}) => {
  for (const text of ['Первая', 'Вторая']) {
    const post = await journey.publish(olga, text)
    await journey.call('POST', `/posts/${post.id}/likes`, { token: petr.token })
  }
  const page = await journey.visit({ as: petr })
  await switchView(page, 'Понравившиеся')
  await page.getByRole('heading', { name: 'Понравившиеся' }).waitFor()
  await expect.poll(() => postTexts(page)).toEqual(['Вторая', 'Первая'])
  const unliked = page.waitForResponse('**/likes')
  await like(postWith(page, 'Первая')).click()
  expect((await unliked).status()).toBe(200)
  await expect
    .poll(() => likeState(postWith(page, 'Первая')))
    .toEqual({ pressed: 'false', count: null })
  expect(await postTexts(page)).toEqual(['Вторая', 'Первая'])
  await switchView(page, 'Новые')
  await page.getByRole('heading', { name: 'Стена' }).waitFor()
  await expect
    .poll(() => likeState(postWith(page, 'Первая')))
    .toEqual({ pressed: 'false', count: null })
  await switchView(page, 'Понравившиеся')
  await expect.poll(() => postTexts(page)).toEqual(['Вторая'])
})

test('a like, an edit and a deletion show in the other tab; messages of another user’s tab, or unknown ones of another release, are ignored', async ({
  journey,
  olga,
}) => {
  await journey.publish(olga, 'Останется на стене')
  await journey.publish(olga, 'Было так')
  const first = await journey.visit({ as: olga })
  const second = await openTab(first)
  // Browsers slow down a tab in the background.
  await first.bringToFront()

  const like = postWith(second, 'Было так').getByRole('button', { name: 'Нравится' })
  await postWith(first, 'Было так').getByRole('button', { name: 'Нравится' }).click()
  await expect.poll(() => like.getAttribute('aria-pressed')).toBe('true')
  await chooseFromMenu(postWith(first, 'Было так'), 'Изменить')
  await first.getByLabel('Текст записи').fill('Стало иначе')
  await first.keyboard.press('Control+Enter')
  await postWith(second, 'Стало иначе').waitFor()

  const kept = await postWith(second, 'Останется на стене').getAttribute('data-post-id')
  await first.evaluate(
    ([userId, postId]) => {
      const otherTab = new BroadcastChannel('posts')
      otherTab.postMessage({ userId: 'somebody else', change: { name: 'deleted', postId } })
      otherTab.postMessage({ userId, change: { name: 'pinned', postId } })
    },
    [olga.id, kept] as const,
  )
  await chooseFromMenu(postWith(first, 'Стало иначе'), 'Удалить')
  await first.getByRole('dialog').getByRole('button', { name: 'Удалить' }).click()
  await postWith(second, 'Стало иначе').waitFor({ state: 'detached' })
  expect(await postWith(second, 'Останется на стене').count()).toBe(1)
})

function like(card: Locator): Locator {
  return card.getByRole('button', { name: 'Нравится' })
}

function likeState(card: Locator): Promise<{ pressed: string | null; count: string | null }> {
  return like(card).evaluate((button) => {
    const id = button.getAttribute('aria-describedby')
    const count = id && document.getElementById(id)?.textContent
    return { pressed: button.getAttribute('aria-pressed'), count: count || null }
  })
}
