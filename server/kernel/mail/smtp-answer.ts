import { maskEmail } from './email-address.ts'

/** Some servers quote the mail. */
const LONGEST_ANSWER = 300
const LONGEST_READ = 2000
const ADDRESS = /[^\s<>()[\]"',;:=]+@[^\s<>()[\]"',;:]+/g
/** A server may quote the subject it dislikes, and a code mail's begins with the code. */
const CODE = /\b\d{6}\b/g

/** Masks addresses, the recipient's name and what could be a code, and makes one line of it. */
export function maskAnswer(answer: string, recipient: string): string {
  const name = recipient.slice(0, recipient.lastIndexOf('@'))
  return answer
    .slice(0, LONGEST_READ)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .replace(ADDRESS, maskEmail)
    .replace(wholeWord(name), '***')
    .replace(CODE, '******')
    .slice(0, LONGEST_ANSWER)
}

function wholeWord(word: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(word)}(?![\\p{L}\\p{N}*])`, 'giu')
}
