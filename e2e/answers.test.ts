import { expect } from 'vitest'
import { LIVE_PATH } from '../contract/constants.ts'
import { DESKTOP, test } from './testing/journey.ts'
import {
  chooseFromMenu,
  openMenu,
  openTab,
  postTexts,
  postWith,
  toast,
} from './testing/page-actions.ts'

const MANY = ['Первый', 'Второй', 'Третий']

test('a reply lights the bell in each open tab within 1.5 s', async ({ journey, olga, petr }) => {
  const post = await journey.publish(olga, 'Жду ответа')
  const page = await journey.visitWithNews({ as: olga })
  await page.getByRole('link', { name: 'Ответы мне', exact: true }).waitFor()
  const secondStream = page.context().waitForEvent('response', (it) => it.url().endsWith(LIVE_PATH))
  const second = await openTab(page)
  await secondStream
  await second.getByRole('link', { name: 'Ответы мне', exact: true }).waitFor()
  await journey.reply(petr, post.id, 'Вот он')
  const since = performance.now()
  const lit = (tab: typeof page) => tab.getByRole('link', { name: 'Ответы мне, новых: 1' })
  await Promise.all([lit(page).waitFor(), lit(second).waitFor()])
  expect(performance.now() - since).toBeLessThan(1500)
})

test('the bell leads to unseen replies, not of muted posts', async ({ journey, olga, petr }) => {
  const page = await journey.visit({ as: olga, path: '/replies', viewport: DESKTOP })
  await page.getByRole('heading', { name: 'Записи не найдены' }).waitFor()
  await page.getByText('Здесь появятся ответы на ваши записи').waitFor()

  const asked = await journey.publish(olga, 'Вопрос')
  const other = await journey.publish(olga, 'Другое')
  const vera = await journey.signUp()
  for (const text of MANY) await journey.reply(text === 'Второй' ? vera : petr, asked.id, text)
  await journey.reply(petr, other.id, 'Про другое')
  await page.goto(journey.url)
  await page.getByRole('link', { name: 'Ответы мне, новых: 4' }).click()
  await page.waitForURL('**/replies')
  await expect.poll(() => postTexts(page)).toEqual(['Про другое', ...MANY.toReversed()])
  const marks = page.getByText('Новый ответ')
  expect(await marks.count()).toBe(4)
  await page.getByRole('link', { name: 'Ответы мне', exact: true }).waitFor()
  expect(await page.title()).toBe('Ответы мне - Вслух')

  const group = page.getByText(/^\S+ и \S+ ответили на «Вопрос»$/)
  await group.waitFor()
  const third = postWith(page, 'Третий')
  expect(await third.getByText(/ответили на/).count()).toBe(1)
  expect(await postWith(page, 'Первый').getByText('Вопрос').count()).toBe(0)
  await postWith(page, 'Про другое').getByText('Другое', { exact: true }).waitFor()
  await group.getByRole('link').click()
  await page.waitForURL(`**/posts/${asked.id}`)
  const card = postWith(page, 'Вопрос').first()
  await chooseFromMenu(card, 'Не сообщать об этой записи')
  await toast(page, 'Больше не сообщаем').waitFor()
  await journey.reply(petr, asked.id, 'Не услышат')
  await page.reload()
  await page.getByRole('link', { name: 'Ответы мне', exact: true }).waitFor()
  await (await openMenu(card)).getByRole('menuitem', { name: 'Сообщать об этой записи' }).click()
  await toast(page, 'Снова сообщаем об ответах').waitFor()
  await page.goto(`${journey.url}/replies`)
  await third.waitFor()
  expect(await marks.count()).toBe(0)
})

test('mails about replies are turned off in the settings', async ({ journey, olga }) => {
  const page = await journey.visit({ as: olga, path: '/settings' })
  const mails = page.getByRole('checkbox', { name: 'Письма об ответах' })
  expect(await mails.isChecked()).toBe(true)
  await mails.click()
  await expect
    .poll(async () => (await journey.call('GET', '/users/current/received', olga)).body.wantsMail)
    .toBe(false)
  await page.reload()
  await expect.poll(() => mails.isChecked()).toBe(false)
})
