import { type PointerEvent, useEffect, useRef } from 'react'
import { pageFlags } from '../platform/flags.ts'
import { readCachedPost } from '../posts/cache/post-cache.ts'
import { readRepliesAhead } from '../replies/replies.queries.ts'

/** The time for which a pointer is on a card, or a finger touches it, before it is read ahead. */
const AIM_MS = 80

/** Returns the handlers of a card that read its thread ahead, which will probably be opened. */
export function useReadAhead(postId: string) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])

  function start(): void {
    timer.current ??= setTimeout(read, AIM_MS)
  }

  function read(): void {
    const hasReplies = (readCachedPost(postId)?.actions.replies_count ?? 0) > 0
    if (hasReplies && !('sparing' in pageFlags())) readRepliesAhead(postId)
  }

  function stop(): void {
    clearTimeout(timer.current)
    timer.current = undefined
  }

  return {
    onPointerDown: start,
    // A card that is scrolled under a resting mouse reports a move of zero length.
    onPointerMove: ({ nativeEvent }: PointerEvent) => {
      if (nativeEvent.movementX || nativeEvent.movementY) start()
    },
    // Follows `pointercancel` too, when a finger begins to scroll.
    onPointerLeave: stop,
  }
}
