/** Messages between the tabs of this browser. */
export type TabChannel<Message> = {
  /** Sends a message to the other tabs. */
  post: (message: Message) => void
  /** Calls `listener` with every message of another tab. Returns the function that unsubscribes it. */
  subscribe: (listener: (message: Message) => void) => () => void
}

/** A channel by its name, which is opened when it is first used. There may be one of each name in a tab. */
export function createTabChannel<Message>(name: string): TabChannel<Message> {
  let opened: BroadcastChannel | null = null

  /** One object per tab: a channel does not receive its own messages, but a second one of the same tab would. */
  function channel(): BroadcastChannel {
    opened ??= new BroadcastChannel(name)
    return opened
  }

  return {
    post: (message) => channel().postMessage(message),
    subscribe: (listener) => {
      const onMessage = ({ data }: MessageEvent<Message>) => listener(data)
      channel().addEventListener('message', onMessage)
      return () => channel().removeEventListener('message', onMessage)
    },
  }
}
