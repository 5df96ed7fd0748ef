/** What this browser keeps for the app, as text or as JSON. Nothing here throws, and nothing that is read is trusted. */
export type KeptValues = {
  /** The text kept under a key; null when there is none or storage is refused. */
  read(key: string): string | null
  /** Keeps a text; a full or refused storage keeps nothing and says nothing. */
  write(key: string, text: string): void
  /**
   * The value kept as JSON under a key, where `is` recognises it. Anything else that stands there is removed: an older
   * release wrote it, or a person did. Null when there is none.
   */
  readJson<Value>(key: string, is: (value: unknown) => value is Value): Value | null
  /** Keeps a value as JSON, as `write` keeps a text. */
  writeJson(key: string, value: unknown): void
  remove(key: string): void
  /** Removes every key that begins with `prefix`. */
  removeAll(prefix: string): void
}

/** localStorage that never throws: private windows and blocked cookies make every access an exception. */
export const localStore: KeptValues = safeStorage(() => localStorage)
/** sessionStorage that never throws. */
export const sessionStore: KeptValues = safeStorage(() => sessionStorage)

/** Whether a value that was read has fields to look at. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** A storage that never throws; `open` returns the browser's, or throws where it is refused. */
export function safeStorage(open: () => Storage): KeptValues {
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
