import { sessionStore } from './storage.ts'

const KEY = 'tab'

let id: string | undefined

export function tabId(): string {
  id ??= takeId()
  return id
}

/** A duplicated tab copies the storage, so the id is stored only while no page is open. */
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
