import { useLayoutEffect, useState } from 'react'

/** Counts down to `until` (unix milliseconds), and returns 0 from then on. */
export function useSecondsLeft(until: number): number {
  const [left, setLeft] = useState(() => secondsUntil(until))
  // A layout effect, so that a button that waits for the end never flashes as enabled.
  useLayoutEffect(() => {
    const count = () => {
      const seconds = secondsUntil(until)
      setLeft(seconds)
      if (seconds === 0) clearInterval(timer)
    }
    const timer = setInterval(count, 1000)
    count()
    return () => clearInterval(timer)
  }, [until])
  return left
}

function secondsUntil(until: number): number {
  return Math.max(0, Math.ceil((until - Date.now()) / 1000))
}
