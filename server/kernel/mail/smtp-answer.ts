import { maskEmail } from './email-address.ts'

const LONGEST_ANSWER = 300
/** A recipient's server chooses the text, and the patterns take longer than linear time. */
const LONGEST_READ = 2000
const ADDRESS = /[^\s<>()[\]"',;:=]+@[^\s<>()[\]"',;:]+/g
/** Matches a code: a server may quote the subject, which begins with it. */
const CODE = /\b\d{6}\b/g

/** Masks addresses, the recipient's name and possible codes, and joins the lines. */
export function maskAnswer(answer: string, recipient: string): string {
  const name = RegExp.escape(recipient.slice(0, recipient.lastIndexOf('@')))
  const asWord = new RegExp(`(?<![\\p{L}\\p{N}])${name}(?![\\p{L}\\p{N}*])`, 'giu')
  return answer
    .slice(0, LONGEST_READ)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .replace(ADDRESS, maskEmail)
    .replace(asWord, '***')
    .replace(CODE, '******')
    .slice(0, LONGEST_ANSWER)
}

/** RFC 3463: X.1.1–X.1.3, X.1.6, X.1.10, X.2.0 and X.2.1 are about the recipient's mailbox. */
const MAILBOX_CODES = /^5\.(?:1\.(?:[1236]|10)|2\.[01])$/
/** Codes without a certain meaning, such as Yandex's «5.7.1 No such user!»: the words decide. */
const VAGUE_CODES = /^5\.(?:[0-7]\.0|7\.1)$/
/** Matches `550 5.1.1`, `550 #5.1.0` and `550-5.1.1` on any line, and `(#5.1.1)` of qmail. */
const ENHANCED_CODE = /(?:^\d{3}[ -][#([]?|\(#)(\d\.\d{1,3}\.\d{1,3})(?![\d.])/m

/** Matches addresses and links, which may contain any word. */
const NAMES = /<[^>]*>|\S+@\S+|https?:\/\/\S+/gi
/** Words about the sender, about the mail, or about how much is sent or stored. */
const OF_US = [
  /\bsender\b|\bsending\b|outgoing|outbound|return[- ](?:path|address)|\bfrom address|submission|send ?as|отправ|исходящ|рассыл/i,
  // Yahoo writes «your message to … cannot be delivered. This mailbox is disabled».
  /\byour (?!message\b)|ваш|suspended from|password|credential|authenticat|\bspf\b|\bdkim\b|\bdns\b|\bhelo\b|host ?name/i,
  /quota|limit|allowance|\bmax(?:imum)?\b|exceed|too (?:many|much|fast)|\bper (?:day|hour|minute)\b|\brate\b|throttl|\bfull\b|\bspace\b|storage|tempor|grey ?list|квот|лимит|превыш/i,
  /\bspam|black ?list|block ?list|\b(?:dns)?[rb]bl\b|spamhaus|reputation/i,
]
const OF_RULES = /polic(?:y|ies)|relay|not (?:permitted|allowed)/i

const MAILBOX = '(?:mail ?box|user|recipient|account|addressee)'
const IS_UNKNOWN = [
  `no such (?:local |virtual )?(?:${MAILBOX}|address|person|e-?mail)`,
  `(?:unknown|non-?existent|invalid) (?:local )?(?:${MAILBOX}|local[- ]part|(?:e-?mail )?address)`,
  `${MAILBOX}(?: name| id)?(?: \\S+)?:? (?:is |was |are )?(?:unknown|not found|non-?existent|not known|not local)`,
  `(?:${MAILBOX}|address)(?: \\S+)? (?:does ?n[o'’]t|do not|did not|not|no longer) exists?`,
  `(?:unknown|unrouteable|undeliverable|malformed) address`,
  `${MAILBOX} (?:is |has been |was )?(?:disabled|inactive|deactivated|closed|not active)`,
  `doesn['’]t have (?:a|an) \\S+ account`,
]
const UNKNOWN = new RegExp(`\\b(?:${IS_UNKNOWN.join('|')})\\b`, 'i')

/** Returns whether a server's reply states that the mailbox does not exist or accepts no mails. */
export function isMailboxRefusal(answer: string): boolean {
  const reply = answer.slice(0, LONGEST_READ)
  if (!reply.startsWith('5')) return false
  const words = reply.replace(NAMES, ' ')
  if (OF_US.some((ours) => ours.test(words))) return false
  const [, code = ''] = ENHANCED_CODE.exec(reply) ?? []
  if (MAILBOX_CODES.test(code)) return true
  if (code !== '' && !VAGUE_CODES.test(code)) return false
  return UNKNOWN.test(words) && !OF_RULES.test(words)
}
