import { createEmitter, useAtom } from '../platform/atom.ts'
import { localStore, storedElsewhere } from '../platform/storage.ts'
import { BUTTON_PAGES_KEY } from '../platform/stored-keys.ts'

const changes = createEmitter(() => storedElsewhere.subscribe(() => changes.emit()))

const buttonPages = {
  get: () => localStore.read(BUTTON_PAGES_KEY) !== null,
  subscribe: changes.subscribe,
}

/** Returns whether lists load their next page by a button in this browser; false on the server. */
export function useButtonPages(): boolean {
  return useAtom(buttonPages, false)
}

export function setButtonPages(isOn: boolean): void {
  if (isOn) localStore.write(BUTTON_PAGES_KEY, 'yes')
  else localStore.remove(BUTTON_PAGES_KEY)
  changes.emit()
}
