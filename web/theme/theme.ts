import { createEmitter, type ReadableAtom } from '../platform/atom.ts'
import { pageFlags } from '../platform/flags.ts'
import { localStore, storedElsewhere } from '../platform/storage.ts'
import { THEME_KEY } from '../platform/stored-keys.ts'
import { showTheme, type Theme } from './page-looks.ts'

const changes = createEmitter(() => storedElsewhere.subscribe(followOtherTab))

/** The theme, which the page shows before its first paint. The atom follows other tabs. */
export const theme: ReadableAtom<Theme> = {
  get: () => (pageFlags().theme === 'light' ? 'light' : 'dark'),
  subscribe: changes.subscribe,
}

export function setTheme(next: Theme): void {
  localStore.write(THEME_KEY, next)
  applyTheme(next)
}

function followOtherTab({ key }: StorageEvent): void {
  if (key && key !== THEME_KEY) return
  applyTheme(localStore.read(THEME_KEY) === 'light' ? 'light' : 'dark')
}

function applyTheme(next: Theme): void {
  showTheme(next)
  changes.emit()
}
