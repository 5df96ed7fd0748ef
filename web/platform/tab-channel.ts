export type TabChannel<Message> = {
  post: (message: Message) => void
  /** `listener` gets messages of other tabs only. Returns the function that unsubscribes it. */
  subscribe: (listener: (message: Message) => void) => () => void
}

/** There may be one channel of each name in a tab. */
export function createTabChannel<Message>(name: string): TabChannel<Message> {
  let opened: BroadcastChannel | undefined

  /** A channel does not receive its own messages, but a second one of the same tab would. */
  function channel(): BroadcastChannel | undefined {
    // Firefox refuses it with all cookies blocked: then each tab is on its own.
    try {
      opened ??= new BroadcastChannel(name)
    } catch {}
    return opened
  }

  return {
    post: (message) => channel()?.postMessage(message),
    subscribe: (listener) => {
      const onMessage = ({ data }: MessageEvent<Message>) => listener(data)
      channel()?.addEventListener('message', onMessage)
      return () => channel()?.removeEventListener('message', onMessage)
    },
  }
}
