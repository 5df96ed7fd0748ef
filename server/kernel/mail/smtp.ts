import { randomUUID } from 'node:crypto'
import { createTransport } from 'nodemailer'
import type { Dkim } from './dkim.ts'
import { domainOf, unicodeEmail } from './email-address.ts'
import type { OnEntry, Relay } from './relay.ts'
import { CONVERSATION_MS, dnsNameOf, entryLogger, offersSmtpUtf8, smtpOptions } from './relay.ts'
import { isTlsProblem } from './smtp-advice.ts'
import { isMailboxRefusal } from './smtp-answer.ts'

export type Mail = {
  /** The same at each try, so that mailboxes can recognise a second copy. */
  id?: string
  /** The host of the Message-ID; by default that of PUBLIC_URL, or else of the sender. */
  idHost?: string | undefined
  to: string
  subject: string
  text: string
  html?: string
  /** The code and the origin where it is entered, for the header OTP-Token. */
  otp?: { code: string; origin: string }
  /** The URL at which a POST unsubscribes without signing in (RFC 8058). */
  unsubscribeUrl?: string
}

export type Message = ReturnType<typeof toMessage>

/** Converts a mail for nodemailer. Addresses are objects, so that they are not parsed as lists. */
export function toMessage(
  { id = randomUUID(), idHost, to, subject, text, html, otp, unsubscribeUrl }: Mail,
  from: { name: string; address: string },
) {
  return {
    ...{ id, idHost, from, subject, text },
    ...(html && { html }),
    ...(otp && { otp }),
    to: { name: unicodeEmail(to), address: to },
    // Automatic replies, such as vacation notices, are not sent to it: RFC 3834, and Exchange.
    headers: {
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      ...(unsubscribeUrl && {
        'List-Unsubscribe': `<${unsubscribeUrl}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      }),
    },
    disableUrlAccess: true,
    disableFileAccess: true,
  }
}

const TLS_HINT =
  'no TLS that can be checked with the SMTP server, and nothing is sent without: see SMTP_URL in docs/configuration.md'

type SmtpError = Error & {
  code?: string | undefined
  command?: string | undefined
  response?: string | undefined
  responseCode?: number | undefined
}

export type MailFailure = SmtpError & {
  /** `refused`: because of its address. `unanswered`: it was sent whole, so it may have arrived. */
  kind: 'refused' | 'unanswered' | 'failed'
  /** Undefined if the conversation ended before the login. */
  login: 'accepted' | 'refused' | undefined
  hint: string | undefined
}

/** Returns undefined for a login that is refused with 4xx, because that is temporary. */
function loginOf({ code, command = '', responseCode = 535 }: SmtpError): MailFailure['login'] {
  if (code === 'EAUTH') return responseCode >= 500 ? 'refused' : undefined
  return ['MAIL FROM', 'RCPT TO', 'DATA'].includes(command) ? 'accepted' : undefined
}

type Options = {
  conversationMs?: number
  dkim?: Dkim | undefined
  onEntry?: OnEntry
}

/** Creates the function that sends a mail, within 45 s. It rejects with MailFailure. */
export function createSmtpSender(
  relay: Relay,
  { conversationMs = CONVERSATION_MS, dkim, onEntry = () => {} }: Options = {},
) {
  return async (message: Message, signal?: AbortSignal): Promise<string> => {
    let isWritten = false
    const smtp = createTransport({
      ...smtpOptions(relay),
      ...(dkim && { dkim }),
      // Only the log shows that the last byte of the message was written to the socket.
      logger: entryLogger((entry, ...rest) => {
        if (entry.tnx === 'message') isWritten = true
        onEntry(entry, ...rest)
      }),
    })
    const deadline = AbortSignal.timeout(conversationMs)
    const until = signal ? AbortSignal.any([signal, deadline]) : deadline
    const host =
      message.idHost || dnsNameOf(relay.publicUrl) || domainOf(message.from.address) || 'localhost'
    try {
      // nodemailer would send such an address to any server, as raw UTF-8.
      if (needsSmtpUtf8(message.to.address) && !(await offersSmtpUtf8(relay, conversationMs))) {
        throw Object.assign(new Error('The server does not offer SMTPUTF8'), { code: 'ESMTPUTF8' })
      }
      const { response } = await smtp.sendMail({
        ...message,
        messageId: `<${message.id}@${host}>`,
        signal: until,
      })
      return response
    } catch (error) {
      const failure = error as SmtpError
      throw Object.assign(failure, {
        kind: failureKind(failure, isWritten),
        login: loginOf(failure),
        hint: isTlsProblem(failure) ? TLS_HINT : undefined,
      })
    }
  }
}

export function needsSmtpUtf8(address: string): boolean {
  return /[^\0-\x7f]/.test(address.slice(0, address.lastIndexOf('@')))
}

function failureKind(error: SmtpError, isWritten: boolean): MailFailure['kind'] {
  const { command, response = '', responseCode } = error
  if ((command === 'RCPT TO' || command === 'DATA') && isMailboxRefusal(response)) return 'refused'
  return isWritten && !responseCode ? 'unanswered' : 'failed'
}
