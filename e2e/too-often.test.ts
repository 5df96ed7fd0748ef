import { expect } from 'vitest'
import type { TestUser } from '../server/testing/client.ts'
import { type Journey, desktopTest as test } from './testing/journey.ts'
import { postWith, refuseOnce, startPost, textField, toast } from './testing/page-actions.ts'

test('a newcomer’s sixth post in a row shows why it waits and how long, and is published by itself', async ({
  journey,
}) => {
  const user = await journey.signUp()
  await setAge(journey, user, '1 hour')
  const page = await journey.visit({ as: user, before: (page) => page.clock.install() })
  for (let post = 1; post <= 5; post++) await journey.publish(user, `Запись ${post}.`)
  const dialog = await startPost(page)
  await textField(dialog).fill('Шестая.')
  await dialog.getByRole('button', { name: 'Опубликовать' }).click()
  await dialog.getByText('В первые сутки записи публикуются реже. Отправим через').waitFor()
  const timer = dialog.getByRole('timer')
  expect(await timer.textContent()).toMatch(/^0:(2\d|30)$/)
  expect(await dialog.getByRole('alert').textContent()).toBe('')
  await page.clock.fastForward(12_000)
  await expect.poll(() => timer.textContent()).toMatch(/^0:[01]\d$/)

  // Ends the limit on the server, whose clock does not advance with the page's.
  await setAge(journey, user, '2 days')
  await page.clock.fastForward(30_000)
  await toast(page, 'Опубликовано').waitFor()
  await postWith(page, 'Шестая.').waitFor()
})

function setAge(journey: Journey, { id }: TestUser, age: string) {
  return journey.rows('UPDATE users SET created_at = now() - $2::interval WHERE id = $1', [id, age])
}

test('a heart over the limit stays set, shows why, and is sent by itself', async ({ journey }) => {
  const user = await journey.signUp()
  await journey.publish(await journey.signUp(), 'Не сразу')
  const page = await journey.visit({ as: user, before: (it) => it.clock.install() })
  const message = 'Сегодня вы поставили очень много отметок: следующая — через 0:30'
  await refuseOnce(page, '**/likes', message, 30)
  const heart = postWith(page, 'Не сразу').getByRole('button', { name: 'Нравится' })
  await heart.click()
  await toast(page, 'Сегодня вы поставили очень много отметок. Отправим через 0:30').waitFor()
  expect(await heart.getAttribute('aria-pressed')).toBe('true')
  await page.clock.fastForward(30_000)
  const likes = () => journey.rows('SELECT FROM likes WHERE user_id = $1', [user.id])
  await expect.poll(likes).toHaveLength(1)
  expect(await heart.getAttribute('aria-pressed')).toBe('true')
})
