import { sessionStore } from './storage.ts'

const KEY = 'tab'

let id: string | undefined

/** Returns the id of this tab, which stays the same across reloads. */
export function tabId(): string {
  id ??= takeId()
  return id
}

/** Returns the id. It is stored only while no page is open, because a duplicated tab copies it. */
function takeId(): string {
  const taken = sessionStore.read(KEY) ?? randomKey()
  sessionStore.remove(KEY)
  globalThis.addEventListener?.('pagehide', () => sessionStore.write(KEY, taken))
  globalThis.addEventListener?.('pageshow', () => sessionStore.remove(KEY))
  return taken
}

/** Returns 32 hexadecimal digits. crypto.randomUUID() is missing on plain http. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
