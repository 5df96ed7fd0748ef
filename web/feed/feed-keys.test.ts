import { expect, test } from 'vitest'
import { feedKey } from './feed-keys.ts'

const plain = { shiftKey: false, ctrlKey: false, metaKey: false, altKey: false }

test.each([
  ['KeyJ', 'о', 'next'],
  ['KeyK', 'л', 'previous'],
  ['KeyL', 'д', 'like'],
  ['KeyR', 'к', 'reply'],
  ['KeyN', 'т', 'new-post'],
])('%s works on ЙЦУКЕН, where it types «%s»', (code, key, wish) => {
  expect(feedKey({ ...plain, code, key })).toBe(wish)
})

test('«?» asks for help on both layouts', () => {
  expect(feedKey({ ...plain, shiftKey: true, code: 'Digit7', key: '?' })).toBe('shortcuts')
  expect(feedKey({ ...plain, shiftKey: true, code: 'Slash', key: ',' })).toBe('shortcuts')
})

test('the browser’s own combinations stay its own', () => {
  expect(feedKey({ ...plain, ctrlKey: true, code: 'KeyR', key: 'r' })).toBeNull()
  expect(feedKey({ ...plain, metaKey: true, code: 'KeyL', key: 'l' })).toBeNull()
  expect(feedKey({ ...plain, altKey: true, code: 'KeyK', key: 'k' })).toBeNull()
  expect(feedKey({ ...plain, shiftKey: true, code: 'KeyJ', key: 'J' })).toBeNull()
  expect(feedKey({ ...plain, code: 'Slash', key: '.' })).toBeNull()
})
