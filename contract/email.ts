import { EMAIL_MAX } from './constants.ts'

/** The pattern people are held to: something, an at-sign, something, a dot, at least two more characters. */
const EMAIL = /^\S+@\S+\.\S{2,}$/u
/** Characters with a meaning in a mail header: an address with them could name a second recipient. */
const HEADER_SYNTAX = /[,;:<>()"[\]\\\p{Cc}\p{Cf}\p{Cs}\p{Z}]/u

/** Whether an address can be signed in with. No mail is sent to one that fails this. */
export function isEmail(address: string): boolean {
  // In this order: without spaces in it, the pattern finds out soon that an address does not match.
  return address.length <= EMAIL_MAX && !HEADER_SYNTAX.test(address) && EMAIL.test(address)
}
