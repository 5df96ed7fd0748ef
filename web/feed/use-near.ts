import { useEffect, useRef } from 'react'

const PAUSE_MS = 100

/**
 * Calls `onNear` when the returned ref's element stays within `margin` of the visible part for
 * 100 ms. Each render checks again: after a short page the end of a list may still be visible.
 */
export function useNear(onNear: () => void, margin = '40% 0px') {
  const element = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!element.current) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const observer = new IntersectionObserver(
      (entries) => {
        clearTimeout(timer)
        // A busy page gets several entries at once: only the last is current.
        if (entries.at(-1)?.isIntersecting) timer = setTimeout(onNear, PAUSE_MS)
      },
      { rootMargin: margin },
    )
    observer.observe(element.current)
    return () => {
      clearTimeout(timer)
      observer.disconnect()
    }
  })
  return element
}
