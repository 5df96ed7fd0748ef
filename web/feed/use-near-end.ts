import { useEffect, useRef } from 'react'

const PAUSE_MS = 100
const MARGIN = '40% 0px 40% 0px'

/**
 * Calls `onNear` when the returned ref's element stays within 40 % of a screen of the visible part
 * for 100 ms. Each render checks again: after a short page the end may still be visible.
 */
export function useNearEnd(onNear: () => void) {
  const end = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!end.current) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const observer = new IntersectionObserver(
      (entries) => {
        clearTimeout(timer)
        // A busy page gets several entries at once: only the last is current.
        if (entries.at(-1)?.isIntersecting) timer = setTimeout(onNear, PAUSE_MS)
      },
      { rootMargin: MARGIN },
    )
    observer.observe(end.current)
    return () => {
      clearTimeout(timer)
      observer.disconnect()
    }
  })
  return end
}
