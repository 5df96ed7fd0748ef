import { useEffect, useEffectEvent } from 'react'
import { useAtom } from './atom.ts'

const online = {
  get: () => navigator.onLine,
  subscribe(listener: () => void) {
    const following = new AbortController()
    const { signal } = following
    addEventListener('online', listener, { signal })
    addEventListener('offline', listener, { signal })
    return () => following.abort()
  },
}

export function useOnline(): boolean {
  return useAtom(online, true)
}

export function useReconnect(action: () => void): void {
  const onChange = useEffectEvent(() => navigator.onLine && action())
  useEffect(() => online.subscribe(() => onChange()), [])
}
