import { isRecord, isString } from '../platform/guards.ts'
import { localStore, memoryStore, sessionStore } from '../platform/storage.ts'
import { TEXT } from '../platform/stored-keys.ts'
import { onHide } from '../platform/timing.ts'

const KEY = 'kept'

/**
 * The texts that stay on the screen after the session has ended, by `<kind> <user's id> <name>`. They
 * are in memory, and the tab stores them only while the page is hidden or being left.
 */
export const keptTexts = memoryStore()

takeStored()
// The user may leave for the mail with the code.
onHide(store)
globalThis.addEventListener?.('pageshow', forgetStored)
globalThis.document?.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') forgetStored()
})

/** Makes the kept texts of a user drafts again, and forgets those of others. */
export function returnKept(userId: string): void {
  for (const key of keptTexts.keys('')) {
    const [kind, owner] = key.split(' ')
    const isDraft = kind === TEXT
    if (isDraft && owner === userId) localStore.write(key, keptTexts.read(key) ?? '')
    if (isDraft || owner !== userId) keptTexts.remove(key)
  }
}

export function forgetKept(): void {
  keptTexts.keys('').forEach(keptTexts.remove)
}

function store(): void {
  const texts = keptTexts.keys('').map((key) => [key, keptTexts.read(key)])
  if (texts.length > 0) sessionStore.writeJson(KEY, Object.fromEntries(texts))
}

function forgetStored(): void {
  sessionStore.remove(KEY)
}

function takeStored(): void {
  const texts = sessionStore.readJson(KEY, isRecord) ?? {}
  for (const [key, text] of Object.entries(texts)) if (isString(text)) keptTexts.write(key, text)
  forgetStored()
}
