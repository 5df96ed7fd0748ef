import { expect, test } from 'vitest'
import { feedAction } from './feed-keys.ts'

const plain = { shiftKey: false, ctrlKey: false, metaKey: false, altKey: false }

test.each([
  ['KeyJ', 'о', 'next'],
  ['KeyK', 'л', 'previous'],
  ['KeyL', 'д', 'like'],
  ['KeyR', 'к', 'reply'],
  ['KeyN', 'т', 'new-post'],
])('%s works on ЙЦУКЕН, where it types «%s»', (code, key, action) => {
  expect(feedAction({ ...plain, code, key })).toBe(action)
})

test('«?» asks for help on both layouts', () => {
  expect(feedAction({ ...plain, shiftKey: true, code: 'Digit7', key: '?' })).toBe('shortcuts')
  expect(feedAction({ ...plain, shiftKey: true, code: 'Slash', key: ',' })).toBe('shortcuts')
})

test('combinations that belong to the browser do nothing', () => {
  expect(feedAction({ ...plain, ctrlKey: true, code: 'KeyR', key: 'r' })).toBeNull()
  expect(feedAction({ ...plain, metaKey: true, code: 'KeyL', key: 'l' })).toBeNull()
  expect(feedAction({ ...plain, altKey: true, code: 'KeyK', key: 'k' })).toBeNull()
  expect(feedAction({ ...plain, shiftKey: true, code: 'KeyJ', key: 'J' })).toBeNull()
  expect(feedAction({ ...plain, code: 'Slash', key: '.' })).toBeNull()
})
