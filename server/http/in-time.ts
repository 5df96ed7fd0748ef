import { AppError } from './app-error.ts'

const HANDLE_MS = 8000

/** What some work gives, or rejects with; UNAVAILABLE when it takes longer than 8 s. Nothing stops the work itself. */
export function inTime<T>(work: Promise<T>, withinMs = HANDLE_MS): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const timer = setTimeout(() => reject(new AppError('UNAVAILABLE')), withinMs)
  work.then(resolve, reject).finally(() => clearTimeout(timer))
  return promise
}
