import { createEmitter, useAtom } from './atom.ts'

const changes = createEmitter(() => {
  addEventListener('online', emit)
  addEventListener('offline', emit)
  return () => {
    removeEventListener('online', emit)
    removeEventListener('offline', emit)
  }
})
const online = { get: () => navigator.onLine, subscribe: changes.subscribe }

/** Whether the browser believes itself online; true on the server. */
export function useOnline(): boolean {
  return useAtom(online, true)
}

function emit(): void {
  changes.emit()
}
