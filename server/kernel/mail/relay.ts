import { isIPv4, Socket } from 'node:net'
import { createTransport } from 'nodemailer'
import { isLoopback } from '../config/config.ts'
import { withDeadline } from '../db/outage.ts'

const STEP_MS = 10_000
/** Timeout of the whole conversation, and of the server to close its side after it. */
export const CONVERSATION_MS = 45_000
const CLOSE_MS = 5000

export const LONGEST_CONVERSATION_SECONDS = (CONVERSATION_MS + CLOSE_MS) / 1000

/** The mail server, and the wall's public origin, whose host is stated in EHLO. */
export type Relay = { url: string; publicUrl?: string | undefined }

/**
 * Returns nodemailer's options. To any other machine mails are sent over TLS only, unless the URL
 * says otherwise, as it may with any option.
 */
export function smtpOptions({ url, publicUrl }: Relay) {
  const { hostname, searchParams } = new URL(url)
  const asked = searchParams.get('requireTLS')
  const isLocal = isLoopback(hostname)
  const requireTLS = asked === null ? !isLocal : asked !== 'false'
  const name = helloName(publicUrl)
  return {
    // A pool would stay open after its only mail.
    url: url.replace(/(?<=[?&])pool=[^&]*/, ''),
    requireTLS,
    // A server may offer TLS and answer that it has none.
    opportunisticTLS: !requireTLS,
    ...(name !== undefined && { name }),
    // Debian's mail server signs its own certificate, and a local connection cannot be intercepted.
    ...(isLocal && !requireTLS && { tls: { rejectUnauthorized: false } }),
    connectionTimeout: STEP_MS,
    greetingTimeout: STEP_MS,
    socketTimeout: STEP_MS,
    dnsTimeout: STEP_MS,
    socketCloseTimeout: CLOSE_MS,
  }
}

/**
 * Returns the name that the wall states in EHLO (RFC 5321, 4.1.3 and 4.1.4). Without a name of the
 * DNS it is nodemailer's choice: the machine's name, or [127.0.0.1].
 */
function helloName(publicUrl: string | undefined): string | undefined {
  if (publicUrl === undefined) return undefined
  const { hostname } = new URL(publicUrl)
  if (isIPv4(hostname)) return `[${hostname}]`
  if (hostname.startsWith('[')) return `[IPv6:${hostname.slice(1)}`
  return dnsNameOf(publicUrl)
}

/** Returns the host of an origin if it is a name of the DNS. */
export function dnsNameOf(publicUrl: string | undefined): string | undefined {
  const hostname = publicUrl && new URL(publicUrl).hostname
  return hostname && /^[\w-]+(?:\.[\w-]+)*\.(?!\d+$)[\w-]+$/.test(hostname) ? hostname : undefined
}

/** An entry of nodemailer's log with its message, in which `%s` stands for the values. */
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

/**
 * Logs in, as each mail does. Rejects after the time that a mail may take: nodemailer's `verify`
 * limits each step, and a server that sends a byte now and then never ends one.
 */
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

/**
 * Asks the server whether it takes addresses with letters beyond ASCII before the «@» (RFC 6531).
 */
export async function offersSmtpUtf8(relay: Relay, conversationMs?: number): Promise<boolean> {
  let isOffered = false
  await verifySmtp(relay, {
    ...(conversationMs !== undefined && { conversationMs }),
    onEntry({ tnx }, message) {
      if (tnx === 'server' && /^250[ -]SMTPUTF8\b/im.test(message)) isOffered = true
    },
  })
  return isOffered
}
