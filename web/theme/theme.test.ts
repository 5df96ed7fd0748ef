import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { theme } from './theme.ts'

// The few properties of a page that the theme touches; journeys test the whole of it in a browser.
let page: EventTarget

beforeEach(() => {
  page = new EventTarget()
  vi.stubGlobal('document', {
    documentElement: { dataset: { theme: 'dark' } },
    querySelector: () => null,
  })
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page))
  vi.stubGlobal('removeEventListener', page.removeEventListener.bind(page))
})
afterEach(() => {
  vi.unstubAllGlobals()
})

function otherTab(key: string | null, newValue: string | null): void {
  page.dispatchEvent(Object.assign(new Event('storage'), { key, newValue }))
}

test('the theme follows the choice of another tab, and is dark if the storage is emptied', () => {
  const unsubscribe = theme.subscribe(() => undefined)
  otherTab('theme', 'light')
  expect(theme.get()).toBe('light')
  otherTab('draft', 'dark')
  expect(theme.get()).toBe('light')
  otherTab(null, null)
  expect(theme.get()).toBe('dark')
  unsubscribe()
  otherTab('theme', 'light')
  expect(theme.get()).toBe('dark')
})
