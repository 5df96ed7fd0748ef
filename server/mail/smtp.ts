import { createTransport } from 'nodemailer'
import type { Letter } from './letter.ts'

/** Each step of a conversation gets this long. */
const STEP_MS = 10_000
/** And all of it, with this long for the server to close its side. */
const CONVERSATION_MS = 45_000
const CLOSE_MS = 5000

/** No conversation is under way for longer than so many seconds. */
export const LONGEST_CONVERSATION_SECONDS = (CONVERSATION_MS + CLOSE_MS) / 1000

const TLS_HINT =
  'no TLS with the SMTP server, and nothing is sent without: see SMTP_URL in README.md'

/**
 * A mail that was not accepted. `refused`: for good, and for the sake of its address. `unanswered`: all of it was sent
 * and no answer came, so that it may have arrived. `failed`: anything else, which may pass.
 */
export class MailFailure extends Error {
  readonly kind: 'refused' | 'unanswered' | 'failed'
  /** nodemailer's name of the error, and the SMTP server's reply code where it gave one. */
  readonly code: string | undefined
  readonly reply: number | undefined
  /** What the operator can do about it, where that is not plain. */
  readonly hint: string | undefined

  constructor(kind: MailFailure['kind'], cause: SmtpError) {
    super(cause.message, { cause })
    this.kind = kind
    this.code = cause.code
    this.reply = cause.responseCode
    this.hint = cause.code === 'ETLS' ? TLS_HINT : undefined
  }
}

type SmtpError = Error & {
  code?: string | undefined
  command?: string | undefined
  response?: string | undefined
  responseCode?: number | undefined
}

type Options = { conversationMs?: number }

/**
 * Makes the function that sends a letter over a connection of its own, or gives it up after 45 s or when `signal` aborts;
 * no letter is under way once its promise has settled. Rejects with MailFailure.
 */
export function smtpSender(url: string, { conversationMs = CONVERSATION_MS }: Options = {}) {
  return async (letter: Letter, signal?: AbortSignal): Promise<void> => {
    let isWritten = false
    const smtp = createTransport({
      ...smtpOptions(url),
      // The only place where it says that the last byte of the letter is with the socket.
      logger: quietLogger(({ tnx }) => {
        if (tnx === 'message') isWritten = true
      }),
    })
    const deadline = AbortSignal.timeout(conversationMs)
    const until = signal ? AbortSignal.any([signal, deadline]) : deadline
    try {
      await smtp.sendMail({ ...letter, signal: until })
    } catch (error) {
      throw failureOf(error as SmtpError, isWritten)
    }
  }
}

/** What nodemailer is told of a server: beyond this machine nothing goes out but over TLS, unless the URL says so. */
export function smtpOptions(url: string) {
  const { hostname, searchParams } = new URL(url)
  const wish = searchParams.get('requireTLS')
  return {
    url,
    requireTLS: wish === null ? !isLoopback(hostname) : wish !== 'false',
    connectionTimeout: STEP_MS,
    greetingTimeout: STEP_MS,
    socketTimeout: STEP_MS,
    dnsTimeout: STEP_MS,
    socketCloseTimeout: CLOSE_MS,
  }
}

function isLoopback(hostname: string): boolean {
  return /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/i.test(hostname)
}

function failureOf(error: SmtpError, isWritten: boolean): MailFailure {
  if (isRefusal(error)) return new MailFailure('refused', error)
  return new MailFailure(isWritten && !error.responseCode ? 'unanswered' : 'failed', error)
}

/**
 * Whether a server has said that this address will never do. What it says of us is the operator's to mend, and passes then:
 * a login that is wanted or wrong (530 to 538), a sender, network or content that it does not trust (5.7.x, RFC 3463).
 */
function isRefusal({ command, response = '', responseCode = 0 }: SmtpError): boolean {
  if (command !== 'RCPT TO' && command !== 'DATA') return false
  if (responseCode < 500 || responseCode === 503) return false
  if (responseCode >= 530 && responseCode <= 538) return false
  return !/^\d{3}[ -]5\.7\./.test(response)
}

type Entry = { tnx?: string }

function quietLogger(onEntry: (entry: Entry) => void) {
  const hear = (entry: unknown) => onEntry(entry as Entry)
  return { level() {}, trace: hear, debug: hear, info: hear, warn: hear, error: hear, fatal: hear }
}
