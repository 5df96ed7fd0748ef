import { isIPv4, Socket } from 'node:net'
import { createTransport } from 'nodemailer'
import { isLoopback } from '../config/config.ts'
import { withDeadline } from '../deadline.ts'

const STEP_MS = 10_000
/** A relay may check a whole mail before it replies: RFC 5321, 4.5.3.2.6. */
const REPLY_MS = 30_000
export const CONVERSATION_MS = 45_000
const CLOSE_MS = 5000

export const LONGEST_CONVERSATION_SECONDS = (CONVERSATION_MS + CLOSE_MS) / 1000

export type Relay = { url: string; publicUrl?: string | undefined }

/** Returns nodemailer's options. Other machines must offer TLS, unless the URL states otherwise. */
export function smtpOptions({ url, publicUrl }: Relay) {
  const { hostname, searchParams } = new URL(url)
  const setting = searchParams.get('requireTLS')
  const isLocal = isLoopback(hostname)
  const requireTLS = setting === null ? !isLocal : setting !== 'false'
  const name = helloName(publicUrl)
  return {
    // A pool would stay open after its only mail.
    url: url.replace(/(?<=[?&])pool=[^&]*/, ''),
    requireTLS,
    // A server may offer STARTTLS and then refuse it.
    opportunisticTLS: !requireTLS,
    ...(name !== undefined && { name }),
    // Debian's mail server signs its own certificate, and a local connection cannot be intercepted.
    ...(isLocal && !requireTLS && { tls: { rejectUnauthorized: false } }),
    connectionTimeout: STEP_MS,
    greetingTimeout: STEP_MS,
    socketTimeout: REPLY_MS,
    dnsTimeout: STEP_MS,
    socketCloseTimeout: CLOSE_MS,
  }
}

/** Returns the name for EHLO (RFC 5321, 4.1.3 and 4.1.4); undefined leaves it to nodemailer. */
function helloName(publicUrl: string | undefined): string | undefined {
  if (publicUrl === undefined) return undefined
  const { hostname } = new URL(publicUrl)
  if (isIPv4(hostname)) return `[${hostname}]`
  if (hostname.startsWith('[')) return `[IPv6:${hostname.slice(1)}`
  return dnsNameOf(publicUrl)
}

export function dnsNameOf(publicUrl: string | undefined): string | undefined {
  const hostname = publicUrl && new URL(publicUrl).hostname
  return hostname && /^[\w-]+(?:\.[\w-]+)*\.(?!\d+$)[\w-]+$/.test(hostname) ? hostname : undefined
}

/** Receives an entry of nodemailer's log and its message, in which `%s` stands for the values. */
export type OnEntry = (
  entry: { tnx?: string; action?: string },
  message: string,
  values: unknown[],
) => void

export function entryLogger(onEntry: OnEntry) {
  const log = (entry: unknown, message?: unknown, ...values: unknown[]) =>
    onEntry(entry as Parameters<OnEntry>[0], String(message), values)
  return { level() {}, trace: log, debug: log, info: log, warn: log, error: log, fatal: log }
}

type Options = { conversationMs?: number; onEntry?: OnEntry }

/** Logs in, as each mail does. Rejects with EABORT after `conversationMs`. */
export async function verifySmtp(
  relay: Relay,
  { conversationMs = CONVERSATION_MS, onEntry = () => {} }: Options = {},
): Promise<void> {
  const logged = { logger: entryLogger(onEntry), transactionLog: true }
  const socket = new Socket()
  const verified = createTransport({ ...smtpOptions(relay), ...logged, socket }).verify()
  await withDeadline(verified, conversationMs, () => {
    socket.destroy()
    const message = `The conversation took longer than ${conversationMs / 1000} s`
    throw Object.assign(new Error(message), { code: 'EABORT' })
  })
}

export async function offersSmtpUtf8(relay: Relay, conversationMs: number): Promise<boolean> {
  let isOffered = false
  await verifySmtp(relay, {
    conversationMs,
    onEntry({ tnx }, message) {
      if (tnx === 'server' && /^250[ -]SMTPUTF8\b/im.test(message)) isOffered = true
    },
  })
  return isOffered
}
