import { createEmitter, type ReadableAtom } from './atom.ts'
import { localStore } from './storage.ts'

export type Theme = 'dark' | 'light'

const KEY = 'theme'

const changes = createEmitter(() => {
  addEventListener('storage', followOtherTab)
  return () => removeEventListener('storage', followOtherTab)
})

/** index.html sets the theme before the first paint. The atom follows other tabs. */
export const theme: ReadableAtom<Theme> = {
  get: () => (document.documentElement.dataset.theme === 'light' ? 'light' : 'dark'),
  subscribe: changes.subscribe,
}

export function setTheme(next: Theme): void {
  localStore.write(KEY, next)
  applyTheme(next)
}

function followOtherTab(event: StorageEvent): void {
  if (event.key === KEY || event.key === null) {
    applyTheme(event.newValue === 'light' ? 'light' : 'dark')
  }
}

function applyTheme(next: Theme): void {
  document.documentElement.dataset.theme = next
  const scheme = document.querySelector<HTMLMetaElement>('meta[name=color-scheme]')
  if (scheme) scheme.content = next
  const bar = document.querySelector<HTMLMetaElement>('meta[name=theme-color]')
  if (bar) bar.content = bar.dataset[next] ?? bar.content
  changes.emit()
}
