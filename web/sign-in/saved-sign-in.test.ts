import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { removeSavedSignIn, savedSignIn, saveSignIn } from './saved-sign-in.ts'
import type { Operation } from './sign-in-flow.ts'

const MINUTE = 60_000
const operation: Operation = { way: 'login', email: 'anna@mail.ru', id: 'op-1', sentAt: 0 }

beforeEach(() => {
  const values = new Map<string, string>()
  vi.stubGlobal('sessionStorage', {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, text: string) => values.set(key, text),
    removeItem: (key: string) => values.delete(key),
  })
})
afterEach(() => vi.unstubAllGlobals())

test('an operation survives a reload while its code may be good', () => {
  saveSignIn(operation)
  expect(savedSignIn(19 * MINUTE)).toEqual(operation)
  expect(savedSignIn(20 * MINUTE)).toBeNull()
})

test('a finished sign-in is forgotten', () => {
  saveSignIn(operation)
  removeSavedSignIn()
  expect(savedSignIn(MINUTE)).toBeNull()
})

test.each([
  '',
  '{',
  'null',
  '7',
  '[]',
  '{"way":"login"}',
  '{"open":true,"operation":{"way":"login","email":"o@example.org","id":"1","sentAt":0}}',
  '{"way":"back","email":"o@example.org","id":"1","sentAt":0}',
  '{"way":"login","email":"o@example.org","id":"1","sentAt":"0"}',
  '{"way":"login","email":"o@example.org","id":"1","sentAt":1e99}',
])('a stored value that is no operation, %s, is ignored', (junk) => {
  sessionStorage.setItem('sign-in', junk)
  expect(savedSignIn(MINUTE)).toBeNull()
  saveSignIn(operation)
  expect(savedSignIn(MINUTE)).toEqual(operation)
})

test('without storage a sign-in is saved for as long as the page is open, and nothing throws', () => {
  vi.stubGlobal('sessionStorage', undefined)
  saveSignIn(operation)
  expect(savedSignIn(MINUTE)).toEqual(operation)
  removeSavedSignIn()
  expect(savedSignIn(MINUTE)).toBeNull()
})
