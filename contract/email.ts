import { EMAIL_MAX } from './constants.ts'

/** Something, an at-sign, something, a dot, at least two more characters. */
const EMAIL = /^\S+@\S+\.\S{2,}$/u
/** Characters with a meaning in a mail header. An address with them could name a second recipient. */
const HEADER_SYNTAX = /[,;:<>()"[\]\\\p{Cc}\p{Cf}\p{Cs}\p{Z}]/u

/** Whether a string is an e-mail address that people can sign in with. Mails are sent to no other. */
export function isEmail(address: string): boolean {
  // The pattern is last, because it fails fast only on strings without spaces.
  return address.length <= EMAIL_MAX && !HEADER_SYNTAX.test(address) && EMAIL.test(address)
}
