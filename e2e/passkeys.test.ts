import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { tap, write } from './testing/hands.ts'
import { desktopTest as test } from './testing/journey.ts'
import { toast } from './testing/page/overlays.ts'
import { addDevice, confirm, countKeys, passkeyOf } from './testing/passkeys.ts'
import {
  profileLink,
  signInButton,
  signInDialog,
  signInThrough,
} from './testing/sign-in-actions.ts'

const NOTHING_LEFT = 'Если почта пропадёт, войти будет нечем: добавьте ключ'
const KEY_LEFT = 'Если почта пропадёт, войти можно ключом'

function settingsPage(page: Page) {
  const main = page.getByRole('main')
  return {
    main,
    row: main.getByRole('link', { name: 'Ключи доступа' }),
    add: main.getByRole('button', { name: 'Добавить ключ' }),
    keys: main.getByRole('listitem'),
    name: main.getByLabel('Название ключа'),
  }
}

test('a key is added, named and removed in the settings, which say what one holds', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ as: olga, path: '/settings' })
  const device = await addDevice(page)
  const { main, row, add, keys, name } = settingsPage(page)
  await row.getByText(NOTHING_LEFT).waitFor()
  await tap(row)
  await main.getByText(NOTHING_LEFT).waitFor()
  await tap(add)
  await toast(page, 'Ключ добавлен').waitFor()
  await main.getByText(KEY_LEFT).waitFor()
  expect(await countKeys(device)).toBe(1)
  expect(await keys.count()).toBe(1)
  // The browser knows the key, and creates no second one on this device.
  await tap(add)
  await main.getByText('На этом устройстве ключ уже есть').waitFor()

  await tap(keys.getByRole('button'))
  await write(name, 'Ноутбук')
  await page.keyboard.press('Enter')
  await toast(page, 'Название сохранено').waitFor()
  const named = keys.getByRole('button', { name: 'Ноутбук' })
  expect(await named.evaluate((it) => it === document.activeElement)).toBe(true)
  await tap(named)
  await tap(main.getByRole('button', { name: 'Удалить ключ' }))
  await toast(page, 'Ключ удалён').waitFor()
  await main.getByText(NOTHING_LEFT).waitFor()
  expect(await keys.count()).toBe(0)
  await journey.mailbox.mailAbout(olga.email, /Удалён ключ доступа/)
})

test('the e-mail field offers the keys, and the chosen one signs in', async ({ journey, olga }) => {
  const page = await journey.visit()
  const device = await addDevice(page, {
    isReady: false,
    passkeys: await passkeyOf(journey, olga),
  })
  await tap(signInButton(page))
  const { email } = signInDialog(page)
  expect(await email.getAttribute('autocomplete')).toBe('email webauthn')
  await confirm(device)
  await profileLink(page).waitFor()
  expect(await profileLink(page).getAttribute('aria-label')).toContain(olga.username)
})

test('a person without a key, or who cancels, sees nothing new and signs in by code', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ as: olga, path: '/settings/passkeys' })
  const device = await addDevice(page, { isReady: false })
  const { add, main } = settingsPage(page)
  // The device does not recognise its owner.
  await device.cdp.send('WebAuthn.setAutomaticPresenceSimulation', {
    ...{ authenticatorId: device.authenticatorId, enabled: true },
  })
  await tap(add)
  await expect.poll(() => add.getAttribute('aria-busy')).not.toBe('true')
  expect(await main.getByRole('alert').count()).toBe(0)
  expect(await countKeys(device)).toBe(0)

  const visitor = await journey.visit()
  await addDevice(visitor)
  await tap(signInButton(visitor))
  await signInThrough(journey, visitor, olga.email)
  await profileLink(visitor).waitFor()
})

test('a removed key and a copied key are refused with a way out', async ({ journey, olga }) => {
  const passkeys = await passkeyOf(journey, olga)
  const refused = async () => {
    const page = await journey.visit({ expectedErrors: /INVALID_PASSKEY|400/ })
    await addDevice(page, { passkeys })
    await tap(signInButton(page))
    const { dialog } = signInDialog(page)
    await dialog.getByText('Этот ключ доступа здесь не действует. Войдите с кодом').waitFor()
    return page
  }
  // The counter of the device has not reached what the server has seen.
  await journey.rows('UPDATE passkeys SET counter = 1000')
  await refused()
  await journey.rows('UPDATE passkeys SET counter = 0, removed_at = now()')
  const page = await refused()
  await signInThrough(journey, page, olga.email)
  await profileLink(page).waitFor()
})

test('two accounts of one browser have a key each', async ({ journey, olga, petr }) => {
  const passkeys = await passkeyOf(journey, olga)
  await passkeyOf(journey, petr, passkeys)
  const handles = passkeys.credentials.map(({ userHandle }) => userHandle)
  expect(new Set(handles).size).toBe(2)
  for (const [user, credential] of [
    [olga, passkeys.credentials[0]],
    [petr, passkeys.credentials[1]],
  ] as const) {
    const page = await journey.visit()
    const own = Object.assign(Object.create(passkeys), { credentials: [credential] })
    await addDevice(page, { passkeys: own })
    await tap(signInButton(page))
    await profileLink(page).waitFor()
    expect(await profileLink(page).getAttribute('aria-label')).toContain(user.username)
  }
})

test.for(['127.0.0.1', 'wall.localhost'])(
  'at another address than PUBLIC_URL, %s, no keys are offered, and the code leads to the right one, where the key signs in',
  async (host, { journey, olga }) => {
    const passkeys = await passkeyOf(journey, olga)
    const page = await journey.visit()
    await addDevice(page, { passkeys })
    const { url, product } = journey
    await page.goto(`http://${host}:${product.port}/`)
    await tap(signInButton(page))
    const { dialog, email, error } = signInDialog(page)
    const isName = host.endsWith('localhost')
    expect(await email.getAttribute('autocomplete')).toBe(isName ? 'email webauthn' : 'email')
    await write(email, olga.email)
    await email.press('Enter')
    const right = `Войти можно только по адресу ${url}. Откройте эту страницу там`
    await error.getByText(right).waitFor()
    expect(await dialog.innerText()).not.toMatch(/ключ/i)
    await page.goto(url)
    await tap(signInButton(page))
    await profileLink(page).waitFor()
  },
)

test('a second device adds a key of its own, and one device keeps the keys of two accounts', async ({
  journey,
  olga,
  petr,
}) => {
  const first = await passkeyOf(journey, olga)
  const second = await journey.visit({ as: olga, path: '/settings/passkeys' })
  await addDevice(second)
  await tap(settingsPage(second).add)
  await toast(second, 'Ключ добавлен').waitFor()
  expect(await settingsPage(second).keys.count()).toBe(2)

  const shared = await journey.visit({ as: petr, path: '/settings/passkeys' })
  const device = await addDevice(shared, { passkeys: first })
  await tap(settingsPage(shared).add)
  await toast(shared, 'Ключ добавлен').waitFor()
  expect(await countKeys(device)).toBe(2)
})

test('a device that does not recognise its owner leaves the code, without a word', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit()
  const passkeys = await passkeyOf(journey, olga)
  const device = await addDevice(page, { isReady: false, passkeys })
  const { authenticatorId } = device
  await device.cdp.send('WebAuthn.setAutomaticPresenceSimulation', {
    authenticatorId,
    enabled: true,
  })
  await tap(signInButton(page))
  await signInThrough(journey, page, olga.email)
  await profileLink(page).waitFor()
})

test('a browser without keys lists and removes those of others', async ({ journey, olga }) => {
  await passkeyOf(journey, olga)
  const page = await journey.visit({
    as: olga,
    path: '/settings/passkeys',
    before: (it) => it.addInitScript(() => Reflect.deleteProperty(window, 'PublicKeyCredential')),
  })
  const { main, add, keys } = settingsPage(page)
  await main.getByText('Здесь ключи не работают').waitFor()
  expect(await add.count()).toBe(0)
  await tap(keys.getByRole('button'))
  await tap(main.getByRole('button', { name: 'Удалить ключ' }))
  await toast(page, 'Ключ удалён').waitFor()
  expect(await keys.count()).toBe(0)
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('MAIN')
})

test('after a removal the next key has the focus', async ({ journey, olga }) => {
  for (const _ of [1, 2]) await passkeyOf(journey, olga)
  const page = await journey.visit({ as: olga, path: '/settings/passkeys' })
  const { main, keys } = settingsPage(page)
  await keys.nth(1).waitFor()
  await tap(keys.first().getByRole('button'))
  await tap(main.getByRole('button', { name: 'Удалить ключ' }))
  await toast(page, 'Ключ удалён').waitFor()
  const left = keys.getByRole('button')
  await expect.poll(() => left.evaluate((it) => it === document.activeElement)).toBe(true)
})

test('the link of the notice undoes the change', async ({ journey, olga }) => {
  await passkeyOf(journey, olga)
  const { text } = await journey.mailbox.mailAbout(olga.email, /Добавлен ключ доступа/)
  const link = /^http\S+\/passkey-undo#\S+$/m.exec(text)?.[0] ?? ''
  const page = await journey.visit()
  await page.goto(link)
  const main = page.getByRole('main')
  await main.getByRole('heading', { name: 'Отменить изменение ключей доступа?' }).waitFor()
  await tap(main.getByRole('button', { name: 'Отменить изменение' }))
  await main.getByRole('heading', { name: 'Изменение отменено' }).waitFor()
  const keys = 'SELECT FROM passkeys WHERE user_id = $1 AND removed_at IS NULL'
  expect(await journey.rows(keys, [olga.id])).toEqual([])
})
