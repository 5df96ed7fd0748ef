/** Creates a channel to other tabs. A second channel of a name would get this tab's messages. */
export function createTabChannel<Message>(name: string) {
  let opened: BroadcastChannel | undefined

  function channel(): BroadcastChannel | undefined {
    // Firefox refuses a channel if all cookies are blocked.
    try {
      opened ??= new BroadcastChannel(name)
    } catch {}
    return opened
  }

  return {
    post: (message: Message): void => channel()?.postMessage(message),
    subscribe: (listener: (message: Message) => void) => {
      const onMessage = ({ data }: MessageEvent<Message>) => listener(data)
      channel()?.addEventListener('message', onMessage)
      return () => channel()?.removeEventListener('message', onMessage)
    },
  }
}

/** Returns false on plain http, where all tabs act at the same time. */
const hasLocks = (): boolean => Boolean(navigator.locks)

/** Runs `action` under a lock. With `ifAvailable`, passes null if another tab has the lock. */
export async function withLock<Result>(
  name: string,
  options: LockOptions,
  action: (lock: unknown) => Result | PromiseLike<Result>,
): Promise<Result> {
  return hasLocks() ? navigator.locks.request(name, options, action) : action(name)
}
