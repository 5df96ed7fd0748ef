import { expect } from 'vitest'
import { tap } from '../testing/hands.ts'
import { test } from '../testing/journey.ts'
import { signInButton, signInDialog } from '../testing/sign-in-actions.ts'

test('on plain http no passkeys are offered', async ({ journey, olga }) => {
  const page = await journey.visit()
  await tap(signInButton(page))
  expect(await signInDialog(page).email.getAttribute('autocomplete')).toBe('email')
  const settings = await journey.visit({ as: olga, path: '/settings' })
  await settings.getByRole('button', { name: 'Выйти' }).waitFor()
  expect(await settings.getByText('Ключи доступа').count()).toBe(0)
  await settings.goto(`${journey.url}/settings/passkeys`)
  await settings.getByText('Здесь ключи не работают').waitFor()
  expect(await settings.getByRole('button', { name: 'Добавить ключ' }).count()).toBe(0)
})
