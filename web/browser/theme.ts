import { localStore } from './storage.ts'

/** The two looks of the interface; dark unless the person chose otherwise on this device. */
export type Theme = 'dark' | 'light'

const KEY = 'theme'
const listeners = new Set<() => void>()

/** The theme the page is shown in now. index.html sets it before the first paint. */
export function getTheme(): Theme {
  return document.documentElement.dataset.theme === 'light' ? 'light' : 'dark'
}

/** Shows the page in `theme` and remembers it on this device; without storage it lasts until reload. */
export function setTheme(theme: Theme): void {
  localStore.write(KEY, theme)
  applyTheme(theme)
}

/** Calls `listener` when the theme changes, here or in another tab. Returns the way to stop it. */
export function subscribeTheme(listener: () => void): () => void {
  if (listeners.size === 0) addEventListener('storage', followOtherTab)
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0) removeEventListener('storage', followOtherTab)
  }
}

function followOtherTab(event: StorageEvent): void {
  if (event.key === KEY || event.key === null) {
    applyTheme(event.newValue === 'light' ? 'light' : 'dark')
  }
}

function applyTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme
  const scheme = document.querySelector<HTMLMetaElement>('meta[name=color-scheme]')
  if (scheme) scheme.content = theme
  const bar = document.querySelector<HTMLMetaElement>('meta[name=theme-color]')
  if (bar) bar.content = bar.dataset[theme] ?? bar.content
  for (const listener of listeners) listener()
}
