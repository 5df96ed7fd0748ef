import { expect, test } from 'vitest'
import { checkInBrowser, maySave } from './username-check.ts'

test.each([
  ['', 'Введите имя пользователя'],
  ['anna', 'Имя пользователя должно быть не меньше 5 символов'],
  ['a'.repeat(33), 'Имя пользователя должно быть не большое 32 символов'],
  ['анна_анна', 'Введите корректное имя пользователя'],
])('«%s» is refused without asking the server', (username, message) => {
  expect(checkInBrowser(username, 'user_1')).toEqual({ state: 'unverified', message })
})

test('the server checks a well-formed name, unless it is the viewer’s own', () => {
  expect(checkInBrowser('anna_5', 'user_1')).toBeNull()
  expect(checkInBrowser('user_1', 'user_1')).toEqual({ state: 'waiting' })
})

test('a name is saved when it is free, or when it could not be checked', () => {
  expect(maySave({ state: 'verified' })).toBe(true)
  expect(maySave({ state: 'waiting', message: 'Нет связи' })).toBe(true)
  expect(maySave({ state: 'waiting' })).toBe(false)
  expect(maySave({ state: 'checking' })).toBe(false)
  expect(maySave({ state: 'unverified', message: 'Занято' })).toBe(false)
})
