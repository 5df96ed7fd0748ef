import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { forgetSignIn, keepSignIn, keepSignInClosed, keptSignIn } from './kept-sign-in.ts'
import type { Operation } from './sign-in-flow.ts'

const MINUTE = 60_000
const operation: Operation = { way: 'login', email: 'anna@mail.ru', id: 'op-1', sentAt: 0 }

beforeEach(() => {
  const kept = new Map<string, string>()
  vi.stubGlobal('sessionStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, text: string) => kept.set(key, text),
    removeItem: (key: string) => kept.delete(key),
  })
})
afterEach(() => vi.unstubAllGlobals())

test('an operation outlives a reload while its code serves', () => {
  keepSignIn(operation)
  expect(keptSignIn(9 * MINUTE)).toEqual({ operation, open: true })
  expect(keptSignIn(10 * MINUTE)).toBeNull()
})

test('a dialog that was closed does not open by itself, yet goes on where it was', () => {
  keepSignIn(operation)
  keepSignInClosed(MINUTE)
  expect(keptSignIn(2 * MINUTE)).toEqual({ operation, open: false })
})

test('closing before any code was sent keeps nothing, and neither does a finished sign-in', () => {
  keepSignInClosed(MINUTE)
  expect(keptSignIn(MINUTE)).toBeNull()
  keepSignIn(operation)
  forgetSignIn()
  expect(keptSignIn(MINUTE)).toBeNull()
})

test.each([
  '',
  '{',
  'null',
  '7',
  '[]',
  '{"open":true}',
  '{"open":true,"operation":null}',
  '{"open":"yes","operation":{"way":"login","email":"o@example.org","id":"1","sentAt":0}}',
  '{"open":true,"operation":{"way":"back","email":"o@example.org","id":"1","sentAt":0}}',
  '{"open":true,"operation":{"way":"login","email":"o@example.org","id":"1","sentAt":"0"}}',
  '{"open":true,"operation":{"way":"login","email":"o@example.org","id":"1","sentAt":1e99}}',
])('what is no operation, %s, is none to go on with', (junk) => {
  sessionStorage.setItem('sign-in', junk)
  expect(keptSignIn(MINUTE)).toBeNull()
  keepSignInClosed(MINUTE)
  keepSignIn(operation)
  expect(keptSignIn(MINUTE)).toEqual({ operation, open: true })
})

test('without storage there is nothing to go on with, and no error', () => {
  vi.stubGlobal('sessionStorage', undefined)
  keepSignIn(operation)
  expect(keptSignIn(MINUTE)).toBeNull()
})
