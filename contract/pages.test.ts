import { expect, test } from 'vitest'
import { pageTitle } from './pages.ts'

test('joins the title and the app name', () => {
  expect(pageTitle('Стена', 'Вслух')).toBe('Стена - Вслух')
})

test.each([undefined, ''])('without a title (%s) only the app name is left', (title) => {
  expect(pageTitle(title, 'Вслух')).toBe('Вслух')
})
