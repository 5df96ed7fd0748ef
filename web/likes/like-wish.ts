export type LikeState = { liked: boolean; count: number }

type LikeWishParts = {
  /** What the server is known to hold. */
  confirmed: LikeState
  /** Tells the server; gives its count of likes. Throws when it refuses or does not answer. */
  send: (liked: boolean) => Promise<number>
  show: (state: LikeState) => void
}

export type LikeWish = {
  /**
   * Wishes the post liked or not and shows it so at once. Settles when the server agrees with the last wish; when it
   * refuses, shows what the server last confirmed and throws.
   */
  wish: (liked: boolean) => Promise<void>
}

/** One person's like of one post: however quickly they tap, one request at a time, and the last wish wins. */
export function makeLikeWish({ confirmed, send, show }: LikeWishParts): LikeWish {
  let wished = confirmed.liked
  let settling: Promise<void> | null = null

  async function settle(): Promise<void> {
    try {
      while (wished !== confirmed.liked) {
        const sent = wished
        confirmed = { liked: sent, count: await send(sent) }
        show(foresee(confirmed, wished))
      }
    } catch (error) {
      wished = confirmed.liked
      show(confirmed)
      throw error
    } finally {
      settling = null
    }
  }

  return {
    wish: (liked) => {
      wished = liked
      show(foresee(confirmed, liked))
      settling ??= settle()
      return settling
    },
  }
}

/** What the server will answer, to the best of our knowledge; never below zero. */
function foresee({ liked, count }: LikeState, wished: boolean): LikeState {
  const step = Number(wished) - Number(liked)
  return { liked: wished, count: Math.max(0, count + step) }
}
