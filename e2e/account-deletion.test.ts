import { expect } from 'vitest'
import { enterDigits, tap } from './testing/hands.ts'
import { desktopTest as test } from './testing/journey.ts'
import { postWith } from './testing/page/feed.ts'
import { toast } from './testing/page/overlays.ts'
import { clickToLoad, reloadUntil } from './testing/page/tab.ts'
import { askForCode, signInButton, signInDialog } from './testing/sign-in-actions.ts'

test('a user takes their data, deletes the account and returns', async ({ journey, olga }) => {
  await journey.publish(olga, 'Меня скоро не будет')
  const page = await journey.visit({ as: olga, path: '/settings' })
  const saved = page.waitForEvent('download')
  await tap(page.getByRole('button', { name: 'Скачать мои данные' }))
  expect((await saved).suggestedFilename()).toBe('vslukh.zip')

  await tap(page.getByRole('link', { name: 'Удалить аккаунт' }))
  const main = page.getByRole('main')
  await main.getByText('14 дней аккаунт можно вернуть').waitFor()
  await tap(main.getByRole('button', { name: 'Не удалять' }))
  await page.waitForURL(`${journey.url}/settings`)
  await tap(page.getByRole('link', { name: 'Удалить аккаунт' }))
  await tap(main.getByRole('button', { name: 'Получить код' }))
  const code = main.getByLabel('Код подтверждения')
  await code.waitFor()
  await page.reload()
  await enterDigits(code, await journey.nextCode(olga.email))

  await page.getByRole('status').getByText('Аккаунт удалён. Вернуть его можно до').waitFor()
  await page.waitForURL(`${journey.url}/`)
  await signInButton(page).waitFor()
  await page.getByText('Записи не найдены').waitFor()

  await journey.passLimitTime(3600)
  await askForCode(page, olga.email)
  const { dialog, code: signInCode } = signInDialog(page)
  await enterDigits(signInCode, await journey.nextCode(olga.email))
  const restore = dialog.getByRole('button', { name: 'Вернуть аккаунт' })
  await restore.waitFor()
  await dialog.getByText(/Этот аккаунт удалён\. До \d+\s[а-я]+ его можно вернуть/).waitFor()
  await clickToLoad(restore)
  await toast(page, 'С возвращением').waitFor()
  await reloadUntil(postWith(page, 'Меня скоро не будет'))
})
