import { settles } from '../db/settles.ts'
import { AppError } from './app-error.ts'

const HANDLE_MS = 8000

/** What some work gives, or rejects with; UNAVAILABLE when it takes longer than 8 s. Nothing stops the work itself. */
export async function inTime<T>(work: Promise<T>): Promise<T> {
  if (!(await settles(work, HANDLE_MS))) throw new AppError('UNAVAILABLE')
  return work
}
