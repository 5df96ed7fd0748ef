import { USERNAME_MAX, USERNAME_MIN } from './constants.ts'

const ALLOWED = /^[A-Za-z0-9_]*$/u

/** Returns the first thing that is wrong with a username as typed, in the form's order; null for a valid one. */
export function usernameProblem(name: string): 'empty' | 'short' | 'long' | 'characters' | null {
  if (name.length === 0) return 'empty'
  if (name.length < USERNAME_MIN) return 'short'
  if (name.length > USERNAME_MAX) return 'long'
  return ALLOWED.test(name) ? null : 'characters'
}
