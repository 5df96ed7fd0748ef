import { useSyncExternalStore } from 'react'

/** A value that lives outside of React, and those who want to hear when it changes. */
export type Store<Value> = {
  get: () => Value
  set: (next: Value) => void
  /** Calls `listener` after each change. Returns what ends that. */
  subscribe: (listener: () => void) => () => void
}

/** A store that holds `initial` at first. */
export function createStore<Value>(initial: Value): Store<Value> {
  let value = initial
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set: (next) => {
      value = next
      for (const listener of listeners) listener()
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** The value of a store, kept up to date; `onServer` where there is no browser. */
export function useStore<Value>({ get, subscribe }: Store<Value>, onServer: Value): Value {
  return useSyncExternalStore(subscribe, get, () => onServer)
}
