export function createTabChannel<Message>(name: string) {
  let opened: BroadcastChannel | undefined

  function channel(): BroadcastChannel | undefined {
    // Firefox refuses it if all cookies are blocked.
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

/** False on plain http: all tabs then act at the same time. */
export const hasLocks = (): boolean => Boolean(navigator.locks)

/** With `ifAvailable`, `action` receives null if another tab has the lock. */
export async function withLock<Result>(
  name: string,
  options: LockOptions,
  action: (lock: unknown) => Result | PromiseLike<Result>,
): Promise<Result> {
  return hasLocks() ? navigator.locks.request(name, options, action) : action(name)
}
