import { expect, test } from 'vitest'
import { shortcutOf } from './shortcuts.ts'

const plain = { shiftKey: false, ctrlKey: false, metaKey: false, altKey: false }

test.each([
  ['KeyJ', 'о'],
  ['KeyR', 'к'],
])('%s works on ЙЦУКЕН, where it types «%s»', (code, key) => {
  expect(shortcutOf({ ...plain, code, key })).toBe(code)
})

test('«?» asks for help on both layouts', () => {
  expect(shortcutOf({ ...plain, shiftKey: true, code: 'Digit7', key: '?' })).toBe('?')
  expect(shortcutOf({ ...plain, shiftKey: true, code: 'Slash', key: ',' })).toBe('?')
})

test('combinations that belong to the browser do nothing', () => {
  expect(shortcutOf({ ...plain, ctrlKey: true, code: 'KeyR', key: 'r' })).toBeNull()
  expect(shortcutOf({ ...plain, metaKey: true, code: 'KeyL', key: 'l' })).toBeNull()
  expect(shortcutOf({ ...plain, altKey: true, code: 'KeyK', key: 'k' })).toBeNull()
  expect(shortcutOf({ ...plain, shiftKey: true, code: 'KeyJ', key: 'J' })).toBeNull()
})
