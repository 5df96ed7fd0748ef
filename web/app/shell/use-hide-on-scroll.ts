import { useEffect, useState } from 'react'

/** The last position of the page in px, and whether the bar is hidden. */
export type ScrollState = { top: number; hidden: boolean }

const NEAR_TOP_PX = 56
const TREMBLE_PX = 6

export function useHideOnScroll(): boolean {
  const [hidden, setHidden] = useState(false)

  useEffect(() => {
    let state: ScrollState = { top: scrollY, hidden: false }
    const onScroll = () => {
      // iOS scrolls past the end and springs back, which is not a scroll up by the person.
      const last = document.documentElement.scrollHeight - innerHeight
      state = afterScroll(state, Math.min(scrollY, last))
      setHidden(state.hidden)
    }
    addEventListener('scroll', onScroll, { passive: true })
    return () => removeEventListener('scroll', onScroll)
  }, [])

  return hidden
}

/** Hides the bar on a scroll down; shows it on a scroll up and near the top. */
export function afterScroll(state: ScrollState, top: number): ScrollState {
  if (top <= NEAR_TOP_PX) return { top: Math.max(0, top), hidden: false }
  const moved = top - state.top
  if (moved < 0) return { top, hidden: false }
  // A resting finger trembles: small moves down add up before they count.
  return moved < TREMBLE_PX ? state : { top, hidden: true }
}
