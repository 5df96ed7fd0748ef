type Stored = {
  /** The text kept under a key; null when there is none or storage is refused. */
  read(key: string): string | null
  /** Keeps a text; a full or refused storage keeps nothing and says nothing. */
  write(key: string, text: string): void
  remove(key: string): void
}

/** localStorage that never throws: private windows and blocked cookies make every access an exception. */
export const localStore: Stored = safeStorage(() => localStorage)
/** sessionStorage that never throws. */
export const sessionStore: Stored = safeStorage(() => sessionStorage)

function safeStorage(open: () => Storage): Stored {
  const attempt = <T>(action: (storage: Storage) => T): T | null => {
    try {
      return action(open())
    } catch {
      return null
    }
  }
  return {
    read: (key) => attempt((storage) => storage.getItem(key)),
    write: (key, text) => {
      attempt((storage) => storage.setItem(key, text))
    },
    remove: (key) => {
      attempt((storage) => storage.removeItem(key))
    },
  }
}
