import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { getTheme, setTheme, subscribeTheme } from './theme.ts'

// The few parts of a page that the theme touches; the whole of it is seen in a browser by the journeys.
let page: EventTarget
let kept: Map<string, string>
let bar: { content: string; dataset: Record<string, string> }

beforeEach(() => {
  page = new EventTarget()
  kept = new Map()
  bar = { content: '#000', dataset: { dark: '#000', light: '#fff' } }
  vi.stubGlobal('document', {
    documentElement: { dataset: { theme: 'dark' } },
    querySelector: (selector: string) => (selector.includes('theme-color') ? bar : null),
  })
  vi.stubGlobal('localStorage', { setItem: (key: string, value: string) => kept.set(key, value) })
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page))
  vi.stubGlobal('removeEventListener', page.removeEventListener.bind(page))
})
afterEach(() => {
  vi.unstubAllGlobals()
})

function otherTab(key: string | null, newValue: string | null): void {
  page.dispatchEvent(Object.assign(new Event('storage'), { key, newValue }))
}

test('a choice is shown, kept and told', () => {
  const heard = vi.fn()
  const leave = subscribeTheme(heard)
  setTheme('light')
  expect(getTheme()).toBe('light')
  expect(kept.get('theme')).toBe('light')
  expect(bar.content).toBe('#fff')
  expect(heard).toHaveBeenCalledTimes(1)
  leave()
  setTheme('dark')
  expect(heard).toHaveBeenCalledTimes(1)
})

test('a storage that refuses does not stop the change', () => {
  vi.stubGlobal('localStorage', {
    setItem: () => {
      throw new DOMException('no', 'SecurityError')
    },
  })
  setTheme('light')
  expect(getTheme()).toBe('light')
})

test('follows another tab, and falls back to dark when the storage is emptied', () => {
  const leave = subscribeTheme(() => undefined)
  otherTab('theme', 'light')
  expect(getTheme()).toBe('light')
  otherTab('draft', 'dark')
  expect(getTheme()).toBe('light')
  otherTab(null, null)
  expect(getTheme()).toBe('dark')
  leave()
  otherTab('theme', 'light')
  expect(getTheme()).toBe('dark')
})
