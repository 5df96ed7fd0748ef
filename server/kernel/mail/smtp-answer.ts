import { maskEmail } from './email-address.ts'

/** Longer answers are cut: some servers quote the mail. */
const LONGEST_ANSWER = 300
/** More of an answer is not read. */
const LONGEST_READ = 2000
const ADDRESS = /[^\s<>()[\]"',;:=]+@[^\s<>()[\]"',;:]+/g
/** A server that dislikes a subject may quote it, and the subject of a code mail begins with the code. */
const CODE = /\b\d{6}\b/g

/**
 * Returns an SMTP server's answer, or an error's message, as logs may show it: in one line, with all addresses, the name before the
 * at-sign of the recipient's, and everything that could be a code masked.
 */
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
