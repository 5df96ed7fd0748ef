import { EMAIL_MAX, USERNAME_MAX, USERNAME_MIN } from './constants.ts'

const ALLOWED = /^[A-Za-z0-9_]*$/u

/** Returns the first rule that a username breaks; null for a valid username. */
export function usernameProblem(name: string): 'empty' | 'short' | 'long' | 'characters' | null {
  if (name.length === 0) return 'empty'
  if (name.length < USERNAME_MIN) return 'short'
  if (name.length > USERNAME_MAX) return 'long'
  return ALLOWED.test(name) ? null : 'characters'
}

/** Returns whether no username, of any length, has all characters of this one. */
export function hasRefusedCharacter(name: string): boolean {
  return !ALLOWED.test(name)
}

/** Whether a username has the form of the names that new users get. */
export function isGeneratedName(name: string): boolean {
  return /^user_[0-9a-z]{7}$/.test(name)
}

const EMAIL = /^\S+@[^\s@]+\.[^\s@]{2,}$/u
/** Matches a character that no domain has. Some scripts have dots of their own. */
export const NOT_IN_A_DOMAIN = /[^\p{L}\p{M}\p{N}._\-\u3002\uff0e\uff61]/u
/** Matches characters with a meaning in a mail header, which could name a second recipient. */
const HEADER_SYNTAX = /[,;:<>()"[\]\\\p{Cc}\p{Cf}\p{Cs}\p{Z}]/u

export function isEmail(address: string): boolean {
  if (address.length > EMAIL_MAX || HEADER_SYNTAX.test(address)) return false
  const domain = address.slice(address.lastIndexOf('@') + 1)
  // The pattern is last, because it fails fast only on strings without spaces.
  return !NOT_IN_A_DOMAIN.test(domain) && EMAIL.test(address)
}
