import { expect, test } from 'vitest'
import { browserName, systemName } from './session-row.tsx'

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
