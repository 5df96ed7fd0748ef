/** Values that the app stores in this browser, as text or as JSON. No method throws, and no stored value is trusted. */
export type SafeStorage = {
  /** The text under a key; null when there is none or storage is refused. */
  read(key: string): string | null
  /** Stores a text; does nothing where the storage is full or refused. */
  write(key: string, text: string): void
  /**
   * The JSON value under a key, if `is` accepts it. Any other value is removed: an older release or a person wrote it.
   * Null when there is none.
   */
  readJson<Value>(key: string, is: (value: unknown) => value is Value): Value | null
  /** Stores a value as JSON, as `write` stores a text. */
  writeJson(key: string, value: unknown): void
  remove(key: string): void
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

  function read(key: string): string | null {
    return attempt((storage) => storage.getItem(key))
  }

  function remove(key: string): void {
    attempt((storage) => storage.removeItem(key))
  }

  return {
    read,
    write: (key, text) => {
      attempt((storage) => storage.setItem(key, text))
    },
    readJson: (key, is) => {
      const text = read(key)
      if (text === null) return null
      const value = attempt<unknown>(() => JSON.parse(text))
      if (is(value)) return value
      remove(key)
      return null
    },
    writeJson: (key, value) => {
      attempt((storage) => storage.setItem(key, JSON.stringify(value)))
    },
    remove,
    removeAll: (prefix) => {
      const keys = attempt((storage) => Object.keys(storage)) ?? []
      for (const key of keys) if (key.startsWith(prefix)) remove(key)
    },
  }
}
