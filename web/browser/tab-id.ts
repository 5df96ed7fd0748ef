import { randomKey } from './random-key.ts'
import { sessionStore } from './storage.ts'

const KEY = 'tab'

let id: string | undefined

/** The name of this tab, which a reload keeps. */
export function tabId(): string {
  id ??= takeId()
  return id
}

/** The name is stored only while no page is open in the tab: a duplicate of the tab, which copies what is stored, needs its own. */
function takeId(): string {
  const taken = sessionStore.read(KEY) ?? randomKey()
  sessionStore.remove(KEY)
  globalThis.addEventListener?.('pagehide', () => sessionStore.write(KEY, taken))
  globalThis.addEventListener?.('pageshow', () => sessionStore.remove(KEY))
  return taken
}
