export type LikeState = { liked: boolean; count: number }

type DesiredLikeOptions = {
  confirmed: LikeState
  /** Resolves with the count of likes. Throws when the server refuses or does not answer. */
  send: (liked: boolean) => Promise<number>
  show: (state: LikeState) => void
  /** Resolves when the refused state may be sent again; undefined if it is refused for good. */
  waitOut?: (error: unknown) => Promise<void> | undefined
}

export type DesiredLike = {
  /** Resolves when the server has confirmed the last desired state. Throws after a rollback. */
  set: (liked: boolean) => Promise<void>
}

/**
 * An optimistic update: however quickly the viewer taps, one request at a time is sent, and the
 * server ends up with the last desired state.
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

function expectedState({ liked, count }: LikeState, desired: boolean): LikeState {
  const step = Number(desired) - Number(liked)
  return { liked: desired, count: Math.max(0, count + step) }
}
