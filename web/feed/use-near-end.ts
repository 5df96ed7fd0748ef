import { useEffect, useRef } from 'react'

const PAUSE_MS = 100
const MARGIN = '40% 0px 40% 0px'

/**
 * Calls `onNear` when the element of the returned ref comes within 40 % of a screen of the visible part, below or above
 * it, and stays there for 100 ms. Checks again after each change of `stage`: after a short page the end may still be
 * visible.
 */
export function useNearEnd(stage: string, onNear: () => void) {
  const end = useRef<HTMLDivElement>(null)
  const latest = useRef(onNear)
  useEffect(() => {
    latest.current = onNear
  }, [onNear])

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new observer reports at once where the end is now.
  useEffect(() => {
    if (!end.current) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const observer = new IntersectionObserver(
      (entries) => {
        clearTimeout(timer)
        // A busy page gets several entries at once: only the last says where the end is now.
        if (entries.at(-1)?.isIntersecting) timer = setTimeout(() => latest.current(), PAUSE_MS)
      },
      { rootMargin: MARGIN },
    )
    observer.observe(end.current)
    return () => {
      clearTimeout(timer)
      observer.disconnect()
    }
  }, [stage])

  return end
}
