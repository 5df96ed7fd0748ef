import { isNumber, isString, shape } from '../platform/guards.ts'
import { sessionStore } from '../platform/storage.ts'

/** What a mailed code confirms. Times are unix milliseconds of this browser. */
export type Operation = {
  id: string
  email: string
  /** Whether signing in makes an account or opens one. */
  way?: 'login' | 'registration' | undefined
  /** When its last mail was requested. */
  sentAt: number
  /** The person went back to the address. The same operation may be started again. */
  isLeft?: boolean
}

/** The longest life of an operation: a mail may be on its way for ten minutes of it. */
const OPERATION_LIFE_MS = 20 * 60_000

type OperationName = 'sign-in' | 'email-change' | 'deletion'

/** Keeps an operation in this tab, across reloads. Those of one user have the user's id. */
export function savedOperation(name: OperationName, userId?: string) {
  const key = userId === undefined ? name : `${name} ${userId}`
  return {
    /** Returns null if there is none or its code is too old at `now`. */
    read(now = Date.now()): Operation | null {
      const operation = sessionStore.readJson(key, isOperation)
      // A clock that was set back makes a code no younger.
      const isFresh = operation && Math.abs(now - operation.sentAt) < OPERATION_LIFE_MS
      return isFresh ? operation : null
    },
    write: (operation: Operation): void => sessionStore.writeJson(key, operation),
    remove: (): void => sessionStore.remove(key),
  }
}

const isOperation = shape<Operation>({
  id: isString,
  email: isString,
  way: (way) => way === undefined || way === 'login' || way === 'registration',
  sentAt: isNumber,
})
