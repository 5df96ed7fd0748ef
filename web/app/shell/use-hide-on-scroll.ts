import { useEffect, useRef, useState } from 'react'
import { afterScroll, type ScrollState } from './scroll-direction.ts'

/** True while the page is being scrolled down; false again on any scroll up. */
export function useHideOnScroll(): boolean {
  const state = useRef<ScrollState>({ top: 0, hidden: false })
  const [hidden, setHidden] = useState(false)

  useEffect(() => {
    state.current = { top: scrollY, hidden: false }
    const follow = () => {
      // iOS scrolls past the end and springs back, which is not a wish to go up.
      const last = document.documentElement.scrollHeight - innerHeight
      state.current = afterScroll(state.current, Math.min(scrollY, last))
      setHidden(state.current.hidden)
    }
    addEventListener('scroll', follow, { passive: true })
    return () => removeEventListener('scroll', follow)
  }, [])

  return hidden
}
