import { expect } from 'vitest'
import { tap, write } from './testing/hands.ts'
import { test } from './testing/journey.ts'
import { chooseFromMenu, like, postTexts, postWith, switchView } from './testing/page/feed.ts'
import { openTab } from './testing/page/tab.ts'

test('an unliked post stays in its list until the next visit', async ({ journey, olga, petr }) => {
  for (const text of ['Первая', 'Вторая']) {
    const post = await journey.publish(olga, text)
    await journey.call('POST', `/posts/${post.id}/likes`, { token: petr.token })
  }
  const page = await journey.visit({ as: petr })
  await switchView(page, 'Понравившиеся')
  await page.getByRole('heading', { name: 'Понравившиеся' }).waitFor()
  await expect.poll(() => postTexts(page)).toEqual(['Вторая', 'Первая'])
  const isLiked = () => like(postWith(page, 'Первая')).getAttribute('aria-pressed')
  const unliked = page.waitForResponse('**/likes')
  await tap(like(postWith(page, 'Первая')))
  expect((await unliked).status()).toBe(200)
  await expect.poll(isLiked).toBe('false')
  expect(await postTexts(page)).toEqual(['Вторая', 'Первая'])
  await switchView(page, 'Новые')
  await page.getByRole('heading', { name: 'Стена' }).waitFor()
  await expect.poll(isLiked).toBe('false')
  // A heart without likes has no number.
  expect(await like(postWith(page, 'Первая')).getAttribute('aria-describedby')).toBeNull()
  await switchView(page, 'Понравившиеся')
  await expect.poll(() => postTexts(page)).toEqual(['Вторая'])
})

test('a like, an edit and a deletion show in the other tab', async ({ journey, olga }) => {
  await journey.publish(olga, 'Останется на стене')
  await journey.publish(olga, 'Было так')
  const first = await journey.visit({ as: olga })
  const second = await openTab(first)
  // Browsers slow down a tab in the background.
  await first.bringToFront()

  await tap(like(postWith(first, 'Было так')))
  const heart = like(postWith(second, 'Было так'))
  await expect.poll(() => heart.getAttribute('aria-pressed')).toBe('true')
  await chooseFromMenu(postWith(first, 'Было так'), 'Изменить')
  await write(first.getByLabel('Текст записи'), 'Стало иначе')
  await first.keyboard.press('Control+Enter')
  await postWith(second, 'Стало иначе').waitFor()

  // Messages of another user’s tab, or unknown ones of another release, are ignored.
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
  await tap(first.getByRole('dialog').getByRole('button', { name: 'Удалить' }))
  await postWith(second, 'Стало иначе').waitFor({ state: 'detached' })
  expect(await postWith(second, 'Останется на стене').count()).toBe(1)
})
