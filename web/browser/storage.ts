/**
 * Values that the app stores in this browser, as text or as JSON. No method throws, and no stored value is trusted. Where the
 * storage is full or refused, a value is kept in memory for as long as the page is open.
 */
export type SafeStorage = {
  /** The text under a key; null when there is none. */
  read(key: string): string | null
  write(key: string, text: string): void
  /** Whether the value under a key is kept in memory only. */
  isUnsaved(key: string): boolean
  /**
   * The JSON value under a key, if `is` accepts it. Any other value is removed: an older release or a person wrote it.
   * Null when there is none.
   */
  readJson<Value>(key: string, is: (value: unknown) => value is Value): Value | null
  /** Stores a value as JSON, as `write` stores a text. */
  writeJson(key: string, value: unknown): void
  remove(key: string): void
  /** The keys that begin with `prefix`. */
  keys(prefix: string): string[]
  /** Removes every key that begins with `prefix`. */
  removeAll(prefix: string): void
}

/** localStorage that never throws; with blocked cookies the browser's own throws at every access. */
export const localStore: SafeStorage = safeStorage(() => localStorage)
/** sessionStorage that never throws. */
export const sessionStore: SafeStorage = safeStorage(() => sessionStorage)

/** Whether a value is an object, whose fields can then be checked. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** Makes a storage that never throws; `open` returns the browser's, or throws where it is refused. */
export function safeStorage(open: () => Storage): SafeStorage {
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
    isUnsaved: (key) => unsaved.has(key),
    readJson: (key, is) => {
      const text = read(key)
      if (text === null) return null
      const value = parse(text)
      if (is(value)) return value
      remove(key)
      return null
    },
    writeJson: (key, value) => write(key, JSON.stringify(value)),
    remove,
    keys,
    removeAll: (prefix) => {
      for (const key of keys(prefix)) remove(key)
    },
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
