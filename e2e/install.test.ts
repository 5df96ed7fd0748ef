import { expect } from 'vitest'
import { tap, write } from './testing/hands.ts'
import { test } from './testing/journey.ts'
import { startPost, storedTexts, textField } from './testing/page/compose.ts'
import { closeByKey, dialogOf, toast } from './testing/page/overlays.ts'
import { signInDialog, signInThrough } from './testing/sign-in-actions.ts'

test('the app can be installed, and every browser finds its icon', async ({ journey }) => {
  const page = await journey.visit()
  const browser = await page.context().newCDPSession(page)
  const { errors, manifest } = await browser.send('Page.getAppManifest')
  expect(errors).toEqual([])
  expect(manifest).toMatchObject({ id: `${journey.url}/`, display: 'kStandalone' })
  const { installabilityErrors } = await browser.send('Page.getInstallabilityErrors')
  // A test's browser context is a private window.
  const found = installabilityErrors.filter(({ errorId }) => errorId !== 'in-incognito')
  expect(found).toEqual([])
  const { icons, screenshots } = await (await fetch(`${journey.url}/manifest.webmanifest`)).json()
  for (const { src, type } of [...icons, ...screenshots]) {
    expect((await fetch(new URL(src, journey.url))).headers.get('content-type')).toBe(type)
  }
  // Browsers without support for SVG icons look for one there.
  const icon = await fetch(`${journey.url}/favicon.ico`)
  expect(icon.status).toBe(200)
  expect(icon.headers.get('content-type')).toMatch(/^image\/(?:x-icon|vnd\.microsoft\.icon)/)
})

test('a shared text waits in the composer, once', async ({ journey, olga, petr }) => {
  const manifest = await (await fetch(`${journey.url}/manifest.webmanifest`)).json()
  const { action, params } = manifest.share_target
  const url = 'https://example.org/statya'
  const given = { [params.title]: 'Статья', [params.text]: `Прочтите ${url}`, [params.url]: url }
  const path = `${action}?${new URLSearchParams(given)}`
  const shared = `Статья\nПрочтите ${url}`

  const page = await journey.visit({ as: olga, path })
  expect(await textField(await dialogOf(page, 'Новая запись')).inputValue()).toBe(shared)
  expect(new URL(page.url()).search).toBe('')
  await write(textField(page.getByRole('dialog')), 'Своё')
  await page.goto(journey.url + path)
  const dialog = await dialogOf(page, 'Новая запись')
  await tap(dialog.getByRole('button', { name: 'Добавить', exact: true }))
  const both = `Своё\n\n${shared}`
  expect(await textField(dialog).inputValue()).toBe(both)
  await page.goto(journey.url + path)
  await dialog.getByText(QUESTION).waitFor()
  expect(await textField(dialog).inputValue()).toBe(both)
  await tap(dialog.getByRole('button', { name: 'Добавить', exact: true }))
  expect(await textField(dialog).inputValue()).toBe(both)

  const visitor = await journey.visit({ path })
  await signInDialog(visitor).email.waitFor()
  await signInThrough(journey, visitor, petr.email)
  expect(await textField(await dialogOf(visitor, 'Новая запись')).inputValue()).toBe(shared)
})

test('a link with a text adds it to a draft only if the reader agrees', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ as: olga })
  const dialog = await startPost(page)
  await write(textField(dialog), 'Моё начатое')
  await closeByKey(dialog)
  const link = `${journey.url}/?text=${encodeURIComponent('Купите слона')}`
  const question = dialog.getByText(QUESTION)
  await page.goto(link)
  await question.waitFor()
  await dialog.getByText('Купите слона').waitFor()
  expect(await textField(dialog).inputValue()).toBe('Моё начатое')
  await write(textField(dialog), 'Моё продолженное')
  await page.reload()
  await question.waitFor()
  expect(await textField(dialog).inputValue()).toBe('Моё продолженное')
  await closeByKey(dialog)
  await startPost(page)
  expect(await question.count()).toBe(0)
  await closeByKey(dialog)

  await page.goto(link)
  await tap(dialog.getByRole('button', { name: 'Не добавлять' }))
  await question.waitFor({ state: 'detached' })
  await page.reload()
  await dialog.waitFor()
  expect(await question.count()).toBe(0)
  expect(await storedTexts(page)).toEqual(['Моё продолженное'])

  await page.goto(link)
  await tap(dialog.getByRole('button', { name: 'Добавить', exact: true }))
  await page.keyboard.press('Control+Enter')
  await toast(page, 'Опубликовано').waitFor()
  await dialog.waitFor({ state: 'detached' })
  expect(await storedTexts(page)).toEqual([])
  expect(await journey.rows('SELECT text FROM posts')).toEqual([
    { text: 'Моё продолженное\n\nКупите слона' },
  ])
})

const QUESTION = 'Добавить текст из ссылки?'
