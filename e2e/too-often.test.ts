import { expect } from 'vitest'
import type { TestUser } from '../server/testing/client.ts'
import { DESKTOP, journey, testWith } from './testing/journey.ts'
import { postWith, refuseOnce, startPost, textField, toast } from './testing/page-actions.ts'

const test = testWith({ RATE_LIMIT_SCALE: '1' }).extend('viewport', DESKTOP)

test('a newcomer’s second post within a minute says why it waits and how long, and is published by itself', async () => {
  const user = await journey.signUp()
  await setAge(user, '1 hour')
  const page = await journey.visit({ as: user, before: (page) => page.clock.install() })
  await journey.publish(user, 'Первая.')
  const dialog = await startPost(page)
  await textField(dialog).fill('Вторая.')
  await dialog.getByRole('button', { name: 'Опубликовать' }).click()
  await dialog.getByText('Первые сутки — одна запись в минуту. Отправим через').waitFor()
  const timer = dialog.getByRole('timer')
  expect(await timer.textContent()).toMatch(/^(0:5\d|1:00)$/)
  expect(await dialog.getByRole('alert').textContent()).toBe('')
  await page.clock.runFor(30_000)
  expect(await timer.textContent()).toMatch(/^0:[123]\d$/)

  // The day is over on the server, where no minute passes meanwhile.
  await setAge(user, '2 days')
  await page.clock.runFor(30_000)
  await toast(page, 'Опубликовано').waitFor()
  await postWith(page, 'Вторая.').waitFor()
})

function setAge({ id }: TestUser, age: string) {
  return journey.rows('UPDATE users SET created_at = now() - $2::interval WHERE id = $1', [id, age])
}

test('a heart over the limit stays set, says why it waits, and is sent by itself', async () => {
  const user = await journey.signUp()
  await journey.publish(await journey.signUp(), 'Не сразу')
  const page = await journey.visit({ as: user })
  await refuseOnce(page, '**/likes', 'Не больше 300 отметок в сутки. Попробуйте позже')
  const heart = postWith(page, 'Не сразу').getByRole('button', { name: 'Нравится' })
  await heart.click()
  await toast(page, 'Не больше 300 отметок в сутки. Отправим через 0:02').waitFor()
  expect(await heart.getAttribute('aria-pressed')).toBe('true')
  const likes = () => journey.rows('SELECT FROM likes WHERE user_id = $1', [user.id])
  await expect.poll(likes).toHaveLength(1)
  expect(await heart.getAttribute('aria-pressed')).toBe('true')
})
