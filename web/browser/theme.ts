import { createEmitter, type ReadableAtom } from './atom.ts'
import { localStore } from './storage.ts'

/** The two looks of the interface; dark unless the person chose otherwise on this device. */
export type Theme = 'dark' | 'light'

const KEY = 'theme'

const changes = createEmitter(() => {
  addEventListener('storage', followOtherTab)
  return () => removeEventListener('storage', followOtherTab)
})

/** The theme of the page, which index.html sets before the first paint; follows other tabs while it has listeners. */
export const theme: ReadableAtom<Theme> = {
  get: () => (document.documentElement.dataset.theme === 'light' ? 'light' : 'dark'),
  subscribe: changes.subscribe,
}

/** Shows the page in `next` and stores the choice on this device; without storage it lasts until a reload. */
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
