import { expect } from 'vitest'
import { test } from './testing/journey.ts'
import { textField } from './testing/page/compose.ts'
import { dialogOf } from './testing/page/overlays.ts'
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
  await textField(page.getByRole('dialog')).fill('Своё')
  await page.goto(journey.url + path)
  const both = textField(await dialogOf(page, 'Новая запись'))
  expect(await both.inputValue()).toBe(`Своё\n\n${shared}`)
  await page.goto(journey.url + path)
  await dialogOf(page, 'Новая запись')
  expect(await both.inputValue()).toBe(`Своё\n\n${shared}`)

  const visitor = await journey.visit({ path })
  await signInDialog(visitor).email.waitFor()
  await signInThrough(journey, visitor, petr.email)
  expect(await textField(await dialogOf(visitor, 'Новая запись')).inputValue()).toBe(shared)
})
