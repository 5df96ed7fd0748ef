import { sessionStore } from './storage.ts'

const KEY = 'tab'

let id: string | undefined

export function tabId(): string {
  id ??= takeId()
  return id
}

/**
 * A duplicate of the tab, which copies what is stored, needs an id of its own: so the id is stored
 * only while no page is open in the tab.
 */
function takeId(): string {
  const taken = sessionStore.read(KEY) ?? randomKey()
  sessionStore.remove(KEY)
  globalThis.addEventListener?.('pagehide', () => sessionStore.write(KEY, taken))
  globalThis.addEventListener?.('pageshow', () => sessionStore.remove(KEY))
  return taken
}

/** crypto.randomUUID is missing on plain http. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
