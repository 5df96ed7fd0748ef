import { expect, onTestFinished, test, vi } from 'vitest'
import { theme } from './theme.ts'

test('the theme follows the choice of another tab, and is dark if the storage is emptied', () => {
  // The few properties of a page that the theme touches.
  const page = new EventTarget()
  const documentElement = { dataset: { theme: 'dark' } }
  vi.stubGlobal('document', { documentElement, querySelector: () => null })
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page))
  onTestFinished(() => void vi.unstubAllGlobals())
  const afterChange = (key: string | null, newValue: string | null) => {
    page.dispatchEvent(Object.assign(new Event('storage'), { key, newValue }))
    return theme.get()
  }
  onTestFinished(theme.subscribe(() => undefined))
  expect(afterChange('theme', 'light')).toBe('light')
  expect(afterChange('draft', 'dark')).toBe('light')
  expect(afterChange(null, null)).toBe('dark')
})
