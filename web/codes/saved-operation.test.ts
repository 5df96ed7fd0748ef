import { beforeEach, expect, test, vi } from 'vitest'
import { type Operation, savedOperation } from './saved-operation.ts'

const MINUTE = 60_000
const operation: Operation = { way: 'login', email: 'anna@mail.ru', id: 'op-1', sentAt: 0 }
const saved = savedOperation('sign-in')

beforeEach(() => {
  sessionStorage.clear()
  vi.stubGlobal('localStorage', sessionStorage)
})

test('an operation survives a reload while its code may be good', () => {
  saved.write(operation)
  expect(saved.read(19 * MINUTE)).toEqual(operation)
  expect(saved.read(20 * MINUTE)).toBeNull()
  expect(localStorage.getItem('sign-in')).toBeNull()
})

test.each([
  '{',
  '{"userId":"1","change":{"email":"o@example.org","id":"1","sentAt":0}}',
  '{"way":"back","email":"o@example.org","id":"1","sentAt":0}',
  '{"way":"login","email":"o@example.org","id":"1","sentAt":1e99}',
])('a stored value that is no operation, %s, is ignored', (junk) => {
  localStorage.setItem('sign-in', junk)
  expect(saved.read(MINUTE)).toBeNull()
  saved.write(operation)
  expect(saved.read(MINUTE)).toEqual(operation)
})

test('without storage an operation is kept until the page is closed, and nothing throws', () => {
  vi.stubGlobal('localStorage', undefined)
  saved.write(operation)
  expect(saved.read(MINUTE)).toEqual(operation)
  saved.remove()
  expect(saved.read(MINUTE)).toBeNull()
})

test('a user does not get the operation of another user', () => {
  const [olgas, petrs] = ['1', '2'].map((id) => savedOperation('email-change', id))
  olgas?.write(operation)
  expect(olgas?.read(MINUTE)).toEqual(operation)
  expect([petrs?.read(MINUTE), saved.read(MINUTE)]).toEqual([null, null])
})
