import { useSyncExternalStore } from 'react'

export type Emitter<Event = void> = {
  emit: (event: Event) => void
  /** Returns the function that unsubscribes the listener. */
  subscribe: (listener: (event: Event) => void) => () => void
}

/** Creates an emitter. `connect` runs at the first listener, and its result after the last. */
export function createEmitter<Event = void>(connect?: () => () => void): Emitter<Event> {
  const listeners = new Set<(event: Event) => void>()
  let disconnect: (() => void) | undefined
  return {
    emit: (event) => {
      for (const listener of listeners) listener(event)
    },
    subscribe: (listener) => {
      if (listeners.size === 0) disconnect = connect?.()
      listeners.add(listener)
      return () => {
        if (listeners.delete(listener) && listeners.size === 0) disconnect?.()
      }
    },
  }
}

export type ReadableAtom<Value> = {
  get: () => Value
  subscribe: (listener: () => void) => () => void
}

export type Atom<Value> = ReadableAtom<Value> & { set: (next: Value) => void }

/** Creates a value outside of React, which components follow by useAtom(). */
export function createAtom<Value>(initial: Value, connect?: () => () => void): Atom<Value> {
  let value = initial
  const { emit, subscribe } = createEmitter(connect)
  return {
    get: () => value,
    set: (next) => {
      value = next
      emit()
    },
    subscribe,
  }
}

/** Follows an atom. `onServer` is its value on the server and until the page is hydrated. */
export function useAtom<Value>({ get, subscribe }: ReadableAtom<Value>, onServer = get()): Value {
  return useSyncExternalStore(subscribe, get, () => onServer)
}

/** Returns false during hydration, so that output that depends on the browser renders after it. */
export function useHydrated(): boolean {
  return useAtom(HYDRATED, false)
}

const HYDRATED = { get: () => true, subscribe: () => () => {} }
