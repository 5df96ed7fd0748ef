import { createTransport } from 'nodemailer'
import type { Dkim } from './dkim.ts'
import { isTlsProblem } from './smtp-advice.ts'

export type Mail = {
  to: string
  subject: string
  text: string
  /** Where a POST ends such mails without a sign-in (RFC 8058). */
  unsubscribeUrl?: string
}

export type Message = ReturnType<typeof toMessage>

/** Addresses are objects, so that nothing in them is parsed as a list or a header. */
export function toMessage(
  { to, subject, text, unsubscribeUrl }: Mail,
  from: { name: string; address: string },
) {
  return {
    ...{ from, subject, text },
    to: { name: '', address: to },
    // RFC 3834: nobody's vacation notice answers it.
    headers: {
      'Auto-Submitted': 'auto-generated',
      ...(unsubscribeUrl && {
        'List-Unsubscribe': `<${unsubscribeUrl}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      }),
    },
    disableUrlAccess: true,
    disableFileAccess: true,
  }
}

const STEP_MS = 10_000
/** Timeout of the whole conversation, and of the server to close its side after it. */
export const CONVERSATION_MS = 45_000
const CLOSE_MS = 5000

export const LONGEST_CONVERSATION_SECONDS = (CONVERSATION_MS + CLOSE_MS) / 1000

const TLS_HINT =
  'no TLS that can be checked with the SMTP server, and nothing is sent without: see SMTP_URL in README.md'

/**
 * `refused`: permanently, because of its address. `unanswered`: the whole mail was sent and no
 * reply came, so it may have arrived. `failed`: anything else, which may be temporary.
 */
export class MailFailure extends Error {
  readonly kind: 'refused' | 'unanswered' | 'failed'
  /** nodemailer's name of the error, and the server's reply code if it replied. */
  readonly code: string | undefined
  readonly reply: number | undefined
  /** The server's reply, or the error's message. Addresses in it are not masked. */
  readonly answer: string
  /** What the operator can do about it, where that is not obvious. */
  readonly hint: string | undefined
  /** Undefined where the conversation did not get as far as the login. */
  readonly login: 'accepted' | 'refused' | undefined

  constructor(kind: MailFailure['kind'], cause: SmtpError) {
    super(cause.message, { cause })
    this.kind = kind
    this.code = cause.code
    this.reply = cause.responseCode
    this.answer = cause.response ?? cause.message
    this.login = loginOf(cause)
    this.hint = isTlsProblem(cause) ? TLS_HINT : undefined
  }
}

type SmtpError = Error & {
  code?: string | undefined
  command?: string | undefined
  response?: string | undefined
  responseCode?: number | undefined
}

/** A login refused with 4xx is temporary: a server whose passwords are unavailable. */
function loginOf({ code, command = '', responseCode = 535 }: SmtpError): MailFailure['login'] {
  if (code === 'EAUTH') return responseCode >= 500 ? 'refused' : undefined
  return ['MAIL FROM', 'RCPT TO', 'DATA'].includes(command) ? 'accepted' : undefined
}

type Options = {
  conversationMs?: number
  dkim?: Dkim | undefined
  onEntry?: OnEntry
}

/** An entry of nodemailer's log with its message, in which `%s` stands for the values. */
export type OnEntry = (
  entry: { tnx?: string; action?: string },
  message: string,
  values: unknown[],
) => void

/** Sends over a connection of its own. Rejects with MailFailure, after 45 s at most. */
export function smtpSender(
  url: string,
  { conversationMs = CONVERSATION_MS, dkim, onEntry = () => {} }: Options = {},
) {
  return async (message: Message, signal?: AbortSignal): Promise<string> => {
    let isWritten = false
    const smtp = createTransport({
      ...smtpOptions(url),
      ...(dkim && { dkim }),
      // Only the log shows that the last byte of the message was written to the socket.
      logger: entryLogger((entry, ...rest) => {
        if (entry.tnx === 'message') isWritten = true
        onEntry(entry, ...rest)
      }),
    })
    const deadline = AbortSignal.timeout(conversationMs)
    const until = signal ? AbortSignal.any([signal, deadline]) : deadline
    try {
      const { response } = await smtp.sendMail({ ...message, signal: until })
      return response
    } catch (error) {
      throw failureOf(error as SmtpError, isWritten)
    }
  }
}

/** To any other machine mails are sent over TLS only, unless the URL says otherwise. */
export function smtpOptions(url: string) {
  const { hostname, searchParams } = new URL(url)
  const asked = searchParams.get('requireTLS')
  const isLocal = isLoopback(hostname)
  const requireTLS = asked === null ? !isLocal : asked !== 'false'
  return {
    url,
    requireTLS,
    // Debian's mail server signs its own certificate, and nobody stands between two local programs.
    ...(isLocal && !requireTLS && { tls: { rejectUnauthorized: false } }),
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
 * A refusal because of us is temporary, since the operator can fix it: a wrong login (530 to 538),
 * or a sender, network or content that the server does not trust (5.7.x, RFC 3463).
 */
function isRefusal({ command, response = '', responseCode = 0 }: SmtpError): boolean {
  if (command !== 'RCPT TO' && command !== 'DATA') return false
  if (responseCode < 500 || responseCode === 503) return false
  if (responseCode >= 530 && responseCode <= 538) return false
  return !/^\d{3}[ -]5\.7\./.test(response)
}

function entryLogger(onEntry: OnEntry) {
  const log = (entry: unknown, message?: unknown, ...values: unknown[]) =>
    onEntry(entry as Parameters<OnEntry>[0], String(message), values)
  return { level() {}, trace: log, debug: log, info: log, warn: log, error: log, fatal: log }
}
