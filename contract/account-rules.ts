import { EMAIL_MAX, USERNAME_MAX, USERNAME_MIN } from './constants.ts'

const ALLOWED = /^[A-Za-z0-9_]*$/u

/** Returns the first rule that a username breaks; null for a valid username. */
export function usernameProblem(name: string): 'empty' | 'short' | 'long' | 'characters' | null {
  if (name.length === 0) return 'empty'
  if (name.length < USERNAME_MIN) return 'short'
  if (name.length > USERNAME_MAX) return 'long'
  return ALLOWED.test(name) ? null : 'characters'
}

/** Whether a username has the form of the names that new users get. */
export function isGeneratedName(name: string): boolean {
  return /^user_[0-9a-z]{7}$/.test(name)
}

const EMAIL = /^\S+@\S+\.\S{2,}$/u
/** Matches characters with a meaning in a mail header, which could name a second recipient. */
const HEADER_SYNTAX = /[,;:<>()"[\]\\\p{Cc}\p{Cf}\p{Cs}\p{Z}]/u

export function isEmail(address: string): boolean {
  // The pattern is last, because it fails fast only on strings without spaces.
  return address.length <= EMAIL_MAX && !HEADER_SYNTAX.test(address) && EMAIL.test(address)
}
