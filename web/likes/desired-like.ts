export type LikeState = { liked: boolean; count: number }

type DesiredLikeOptions = {
  /** What the server is known to hold. */
  confirmed: LikeState
  /** Sends the state to the server and resolves with its count of likes. Throws when the server refuses or is silent. */
  send: (liked: boolean) => Promise<number>
  show: (state: LikeState) => void
  /** Resolves when a state that was refused may be sent again; undefined where it is refused for good. */
  waitOut?: (error: unknown) => Promise<void> | undefined
}

export type DesiredLike = {
  /**
   * Sets the desired state and shows it at once. Resolves when the server has confirmed the last desired state; when it
   * refuses, shows what it last confirmed and throws.
   */
  set: (liked: boolean) => Promise<void>
}

/**
 * The like of one viewer for one post, as an optimistic update: however quickly they tap, one request at a time is sent,
 * and the last desired state is what the server ends up with.
 */
export function createDesiredLike({
  confirmed,
  send,
  show,
  waitOut = () => undefined,
}: DesiredLikeOptions): DesiredLike {
  let desired = confirmed.liked
  let sending: Promise<void> | null = null

  async function sendUntilConfirmed(): Promise<void> {
    try {
      while (desired !== confirmed.liked) await sendOnce(desired)
    } catch (error) {
      desired = confirmed.liked
      show(confirmed)
      throw error
    } finally {
      sending = null
    }
  }

  async function sendOnce(sent: boolean): Promise<void> {
    try {
      confirmed = { liked: sent, count: await send(sent) }
      show(expectedState(confirmed, desired))
    } catch (error) {
      const waiting = waitOut(error)
      if (!waiting) throw error
      await waiting
    }
  }

  return {
    set: (liked) => {
      desired = liked
      show(expectedState(confirmed, liked))
      sending ??= sendUntilConfirmed()
      return sending
    },
  }
}

/** What the server is expected to answer, given what it last confirmed; the count is never below zero. */
function expectedState({ liked, count }: LikeState, desired: boolean): LikeState {
  const step = Number(desired) - Number(liked)
  return { liked: desired, count: Math.max(0, count + step) }
}
