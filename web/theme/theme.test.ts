import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { setTheme, theme } from './theme.ts'

// The few properties of a page that the theme touches; journeys test the whole of it in a browser.
let page: EventTarget
let stored: Map<string, string>
let bar: { content: string; dataset: Record<string, string> }

beforeEach(() => {
  page = new EventTarget()
  stored = new Map()
  bar = { content: '#000', dataset: { dark: '#000', light: '#fff' } }
  vi.stubGlobal('document', {
    documentElement: { dataset: { theme: 'dark' } },
    querySelector: (selector: string) => (selector.includes('theme-color') ? bar : null),
  })
  vi.stubGlobal('localStorage', { setItem: (key: string, value: string) => stored.set(key, value) })
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page))
  vi.stubGlobal('removeEventListener', page.removeEventListener.bind(page))
})
afterEach(() => {
  vi.unstubAllGlobals()
})

function otherTab(key: string | null, newValue: string | null): void {
  page.dispatchEvent(Object.assign(new Event('storage'), { key, newValue }))
}

test('a choice is shown and stored, and listeners are called until they unsubscribe', () => {
  const listener = vi.fn()
  const unsubscribe = theme.subscribe(listener)
  setTheme('light')
  expect(theme.get()).toBe('light')
  expect(stored.get('theme')).toBe('light')
  expect(bar.content).toBe('#fff')
  expect(listener).toHaveBeenCalledTimes(1)
  unsubscribe()
  setTheme('dark')
  expect(listener).toHaveBeenCalledTimes(1)
})

test('the theme changes even where the storage refuses to write', () => {
  vi.stubGlobal('localStorage', {
    setItem: () => {
      throw new DOMException('no', 'SecurityError')
    },
  })
  setTheme('light')
  expect(theme.get()).toBe('light')
})

test('the choice of another tab is followed, and an emptied storage means dark', () => {
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
