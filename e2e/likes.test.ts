import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { type Journey, test } from './testing/journey.ts'
import {
  chooseFromMenu,
  holdCalls,
  openTab,
  postTexts,
  postWith,
  switchView,
} from './testing/page-actions.ts'
import { profileLink } from './testing/sign-in-actions.ts'

test('a like shows before the server has answered, and stays afterwards', async ({
  journey,
  olga,
  petr,
}) => {
  const post = await journey.publish(olga, 'Нравится ли?')
  await journey.call('POST', `/posts/${post.id}/likes`, { token: olga.token })
  const page = await journey.visit({ as: petr })
  const card = postWith(page, 'Нравится ли?')
  const held = await holdCalls(page, '**/likes')
  await like(card).click()
  await held.asked
  await expect
    .poll(() => likeState(card))
    .toEqual({ pressed: 'true', count: '2 отметки «Нравится»' })
  held.letGo()
  await expect.poll(() => likesOf(journey, post.id)).toBe(2)
  await page.reload()
  await expect
    .poll(() => likeState(card))
    .toEqual({ pressed: 'true', count: '2 отметки «Нравится»' })
})

test('a tapped heart springs for 200 ms, unless reduced motion is set; a loaded one does not', async ({
  journey,
  olga,
  petr,
}) => {
  const post = await journey.publish(olga, 'Пружина')
  for (const { token } of [olga, petr])
    await journey.call('POST', `/posts/${post.id}/likes`, { token })
  const visit = async (reducedMotion: 'no-preference' | 'reduce') => {
    const before = async (opened: Page) => {
      await opened.emulateMedia({ reducedMotion })
      await recordMotions(opened)
    }
    const page = await journey.visit({ as: olga, before })
    const card = postWith(page, 'Пружина')
    await card.getByRole('button', { name: 'Нравится', pressed: true }).waitFor()
    expect(await motions(page)).toEqual([])
    // Waits for the unlike, because Olga then likes the post again from elsewhere.
    const answered = page.waitForResponse((it) => it.request().method() === 'DELETE')
    await like(card).click()
    await card.getByRole('button', { name: 'Нравится', pressed: false }).waitFor()
    await answered
    return page
  }
  const springs = ['opacity 200', 'transform 200', 'translate 200']
  const page = await visit('no-preference')
  await expect.poll(() => motions(page)).toEqual(springs)
  await journey.call('POST', `/posts/${post.id}/likes`, { token: olga.token })
  const still = await visit('reduce')
  // Transitions begin with the next frame.
  for (let frame = 0; frame < 2; frame++) {
    await still.evaluate(() => new Promise(requestAnimationFrame))
  }
  expect(await motions(still)).toEqual([])
})

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
  await expect.poll(() => postTexts(page)).toEqual(['Вторая', 'Первая'])
  const unliked = page.waitForResponse('**/likes')
  await like(postWith(page, 'Первая')).click()
  expect((await unliked).status()).toBe(200)
  await expect
    .poll(() => likeState(postWith(page, 'Первая')))
    .toEqual({ pressed: 'false', count: null })
  expect(await postTexts(page)).toEqual(['Вторая', 'Первая'])
  await switchView(page, 'Новые')
  await page.waitForURL(`${journey.url}/`)
  await expect
    .poll(() => likeState(postWith(page, 'Первая')))
    .toEqual({ pressed: 'false', count: null })
  await switchView(page, 'Понравившиеся')
  await expect.poll(() => postTexts(page)).toEqual(['Вторая'])
})

test('a like, an edit and a deletion show in the other tab; messages of another user’s tab are ignored', async ({
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
  await first.evaluate((postId) => {
    const change = { name: 'deleted', postId }
    new BroadcastChannel('posts').postMessage({ userId: 'somebody else', change })
  }, kept)
  await chooseFromMenu(postWith(first, 'Стало иначе'), 'Удалить')
  await first.getByRole('dialog').getByRole('button', { name: 'Удалить' }).click()
  await postWith(second, 'Стало иначе').waitFor({ state: 'detached' })
  expect(await postWith(second, 'Останется на стене').count()).toBe(1)
})

test('an unknown message from a tab of another release changes nothing', async ({
  journey,
  olga,
}) => {
  await journey.publish(olga, 'Останется')
  await journey.publish(olga, 'Уйдёт')
  const page = await journey.visit({ as: olga })
  await profileLink(page).waitFor()
  const idOf = (text: string) => postWith(page, text).getAttribute('data-post-id')
  const changes = [
    { name: 'pinned', postId: await idOf('Останется') },
    { name: 'deleted', postId: await idOf('Уйдёт') },
  ]
  await page.evaluate(
    ([userId, sent]) => {
      const otherTab = new BroadcastChannel('posts')
      for (const change of sent) otherTab.postMessage({ userId, change })
    },
    [olga.id, changes] as const,
  )
  await postWith(page, 'Уйдёт').waitFor({ state: 'detached' })
  expect(await postTexts(page)).toEqual(['Останется'])
})

/** Records transitions of 200 ms in posts, even if they end before they are read. */
async function recordMotions(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const seen = new Set<string>()
    Reflect.set(window, 'motions', seen)
    document.addEventListener('transitionrun', ({ target }) => {
      if (!(target instanceof Element)) return
      const running = target.closest('article')?.getAnimations({ subtree: true }) ?? []
      for (const animation of running) {
        const { duration } = animation.effect?.getTiming() ?? {}
        if (duration === 200) seen.add(`${Reflect.get(animation, 'transitionProperty')} 200`)
      }
    })
  })
}

function motions(page: Page): Promise<string[]> {
  return page.evaluate(() => [...Reflect.get(window, 'motions')].sort())
}

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

async function likesOf(journey: Journey, postId: string): Promise<number> {
  return (await journey.call('GET', `/posts/${postId}`)).body.actions.likes_count
}
