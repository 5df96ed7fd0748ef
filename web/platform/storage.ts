import { createEmitter } from './atom.ts'

type SafeStorage = ReturnType<typeof safeStorage>

/**
 * Emits when another tab has stored or removed a value, and with the key '' when any value may have
 * changed: WebKit drops the events of a page in the back/forward cache.
 */
export const storedElsewhere = createEmitter<StorageEvent>()

globalThis.addEventListener?.('storage', storedElsewhere.emit)
globalThis.addEventListener?.('pageshow', ({ persisted }) => {
  if (persisted) storedElsewhere.emit(new StorageEvent('storage', { key: '' }))
})

/** If cookies are blocked, each access to the browser's localStorage throws. */
export const localStore = safeStorage(() => localStorage)
export const sessionStore = safeStorage(() => sessionStorage)

/** Returns a storage that never throws: a value that the browser refuses stays in memory. */
function safeStorage(open: () => Storage) {
  const attempt = <T>(action: (storage: Storage) => T): T | null => {
    try {
      return action(open())
    } catch {
      return null
    }
  }

  const unsaved = new Map<string, string>()

  function read(key: string): string | null {
    return unsaved.get(key) ?? attempt((storage) => storage.getItem(key))
  }

  function write(key: string, text: string): void {
    unsaved.set(key, text)
    attempt((storage) => {
      storage.setItem(key, text)
      unsaved.delete(key)
    })
  }

  function remove(key: string): void {
    unsaved.delete(key)
    attempt((storage) => storage.removeItem(key))
  }

  function keys(prefix: string): string[] {
    const all = new Set([...unsaved.keys(), ...(attempt((storage) => Object.keys(storage)) ?? [])])
    return [...all].filter((key) => key.startsWith(prefix))
  }

  return {
    read,
    write,
    isUnsaved: (key: string): boolean => unsaved.has(key),
    /** Returns null for a value that `is` refuses, and removes it. */
    readJson<Value>(key: string, is: (value: unknown) => value is Value): Value | null {
      const text = read(key)
      if (text === null) return null
      const value = parse(text)
      if (is(value)) return value
      remove(key)
      return null
    },
    writeJson: (key: string, value: unknown): void => write(key, JSON.stringify(value)),
    remove,
    keys,
  }
}

/** Returns a storage that lasts until the page is left. */
export function memoryStore(): SafeStorage {
  return safeStorage(() => {
    throw new Error('Nothing is stored')
  })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
