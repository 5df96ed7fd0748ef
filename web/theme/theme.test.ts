import { expect, onTestFinished, test, vi } from 'vitest'
import { storedElsewhere } from '../platform/storage.ts'
import { theme } from './theme.ts'

test('the theme follows the choice of another tab, and is dark if the storage is emptied', () => {
  // The few properties of a page that the theme touches.
  const documentElement = { dataset: { theme: 'dark' } }
  vi.stubGlobal('document', { documentElement, querySelector: () => null })
  const afterChange = (key: string | null, stored: string | null) => {
    vi.stubGlobal('localStorage', { getItem: () => stored })
    storedElsewhere.emit({ key } as StorageEvent)
    return theme.get()
  }
  onTestFinished(theme.subscribe(() => undefined))
  expect(afterChange('theme', 'light')).toBe('light')
  expect(afterChange('draft', 'dark')).toBe('light')
  expect(afterChange(null, null)).toBe('dark')
  expect(afterChange('', 'light')).toBe('light')
})
