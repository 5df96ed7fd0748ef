import { useLayoutEffect, useState } from 'react'

/** Whole seconds until `until` (unix milliseconds), counting down once a second; 0 once it is past. */
export function useSecondsLeft(until: number): number {
  const [left, setLeft] = useState(() => secondsUntil(until))
  // Before it is painted: what waits for the end must not look ready for a moment.
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
