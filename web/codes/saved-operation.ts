import { OPERATION_LIFE_MS } from '../../contract/constants.ts'
import { isNumber, isString, shape } from '../platform/guards.ts'
import { localStore, sessionStore } from '../platform/storage.ts'

/** An operation that a mailed code confirms. Times are unix milliseconds of this browser. */
export type Operation = {
  id: string
  email: string
  /** Whether a sign-in creates an account or opens one. */
  way?: 'login' | 'registration' | undefined
  /** When the last mail was requested, and when the server had taken the request. */
  askedAt?: number
  sentAt: number
  /** Whether the person went back to the address. The operation may be started again. */
  isLeft?: boolean
}

type OperationName = 'sign-in' | 'email-change' | 'deletion'

/** Keeps an operation across reloads: a sign-in for all tabs, a user's operation for this tab. */
export function savedOperation(name: OperationName, userId?: string) {
  const key = userId === undefined ? name : `${name} ${userId}`
  const store = userId === undefined ? localStore : sessionStore
  return {
    /** Returns null if there is none or its code is too old at `now`. */
    read(now = Date.now()): Operation | null {
      const operation = store.readJson(key, isOperation)
      // abs(), because a clock that was set back would keep the operation fresh for too long.
      const isFresh = operation && Math.abs(now - operation.sentAt) < OPERATION_LIFE_MS
      if (operation && !isFresh) store.remove(key)
      return isFresh ? operation : null
    },
    write: (operation: Operation): void => store.writeJson(key, operation),
    remove: (): void => store.remove(key),
  }
}

const isOperation = shape<Operation>({
  id: isString,
  email: isString,
  way: (way) => way === undefined || way === 'login' || way === 'registration',
  sentAt: isNumber,
})
