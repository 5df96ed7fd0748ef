import { expect, test } from 'vitest'
import { browserName, dayAndTime, isPhone, systemName } from './sessions.tsx'

test('a device is named by its browser and the first number of its version', () => {
  const device = { userAgent: 'Firefox', userAgentVersion: '140.0.2', os: 'Linux' }
  expect(browserName(device)).toBe('Firefox 140')
  expect(systemName(device)).toBe('Linux')
})

test('an unknown device still has a name', () => {
  const device = { userAgent: '', userAgentVersion: '', os: '' }
  expect(browserName(device)).toBe('Неизвестный браузер')
  expect(systemName(device)).toBe('Неизвестная система')
})

test.each([
  ['iOS 26.1', true],
  ['Windows 11', false],
  ['', false],
])('a device with %s is a phone: %s', (os, expected) => {
  expect(isPhone({ userAgent: 'Firefox', userAgentVersion: '140', os })).toBe(expected)
})

test.each([
  [[2026, 2, 1, 17, 49], 'сегодня в 17:49'],
  [[2026, 1, 28, 23, 59], 'вчера в 23:59'],
  [[2026, 1, 27, 23, 59], '27 февраля в 23:59'],
  [[2025, 2, 1, 17, 49], '1 марта 2025 г. в 17:49'],
] as const)('the time %j is shown by its day', (parts, words) => {
  const now = new Date(2026, 2, 1, 18, 0).getTime() / 1000
  const [year, month, day, hour, minute] = parts
  expect(dayAndTime(new Date(year, month, day, hour, minute).getTime() / 1000, now)).toBe(words)
})
