import { useSyncExternalStore } from 'react'

/** Listeners of one event. */
export type Emitter<Event = void> = {
  emit: (event: Event) => void
  /** Calls `listener` with every event from now on. Returns the function that unsubscribes it. */
  subscribe: (listener: (event: Event) => void) => () => void
}

/**
 * An event without listeners. `connect` runs when the first listener subscribes, and what it returns when the last one
 * has unsubscribed, so that nothing outside is listened to in vain.
 */
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

/** A value outside of React that can be read and followed. */
export type ReadableAtom<Value> = {
  get: () => Value
  /** Calls `listener` after each change. Returns the function that unsubscribes it. */
  subscribe: (listener: () => void) => () => void
}

export type Atom<Value> = ReadableAtom<Value> & { set: (next: Value) => void }

/** An atom that holds `initial` at first. `connect` is called as by createEmitter(). */
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

/** The current value of an atom; `onServer` where there is no browser. */
export function useAtom<Value>({ get, subscribe }: ReadableAtom<Value>, onServer: Value): Value {
  return useSyncExternalStore(subscribe, get, () => onServer)
}
