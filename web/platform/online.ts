import { useEffect, useEffectEvent } from 'react'
import { createEmitter, useAtom } from './atom.ts'

const changes = createEmitter<boolean>(() => {
  addEventListener('online', emit)
  addEventListener('offline', emit)
  return () => {
    removeEventListener('online', emit)
    removeEventListener('offline', emit)
  }
})
const online = { get: () => navigator.onLine, subscribe: changes.subscribe }

export function useOnline(): boolean {
  return useAtom(online, true)
}

export function useReconnect(action: () => void): void {
  const onReconnect = useEffectEvent(action)
  useEffect(
    () =>
      changes.subscribe((isOnline) => {
        if (isOnline) onReconnect()
      }),
    [],
  )
}

function emit({ type }: Event): void {
  changes.emit(type === 'online')
}
