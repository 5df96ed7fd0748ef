import { useEffect, useState } from 'react'

/** Whole seconds until `until` (unix milliseconds), counting down once a second; 0 once it is past. */
export function useSecondsLeft(until: number): number {
  const [left, setLeft] = useState(0)
  useEffect(() => {
    const count = () => {
      const seconds = Math.max(0, Math.ceil((until - Date.now()) / 1000))
      setLeft(seconds)
      if (seconds === 0) clearInterval(timer)
    }
    const timer = setInterval(count, 1000)
    count()
    return () => clearInterval(timer)
  }, [until])
  return left
}
