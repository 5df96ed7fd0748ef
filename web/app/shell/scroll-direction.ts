/** Where the page stood last, and whether the bar is out of sight. */
export type ScrollState = { top: number; hidden: boolean }

const NEAR_TOP = 56
const TREMBLE = 6

/** What a scroll to `top` means for the bar: down hides it, up shows it, near the top it is always there. */
export function afterScroll(state: ScrollState, top: number): ScrollState {
  if (top <= NEAR_TOP) return { top: Math.max(0, top), hidden: false }
  const moved = top - state.top
  if (moved < 0) return { top, hidden: false }
  // A finger that rests trembles downwards: the distance adds up until it is meant.
  return moved < TREMBLE ? state : { top, hidden: true }
}
