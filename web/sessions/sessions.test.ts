import { expect, test } from 'vitest'
import { browserName, formatRecentDateTime, isPhone, systemName } from './sessions.tsx'

test.each([
  ['Firefox', '140.0.2', 'Linux', 'Firefox 140, Linux'],
  ['', '', '', 'Неизвестный браузер, Неизвестная система'],
])('a device with «%s», «%s» and «%s» is named %s', (userAgent, userAgentVersion, os, name) => {
  const device = { userAgent, userAgentVersion, os }
  expect(`${browserName(device)}, ${systemName(device)}`).toBe(name)
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
  expect(formatRecentDateTime(new Date(year, month, day, hour, minute).getTime() / 1000, now)).toBe(
    words,
  )
})
