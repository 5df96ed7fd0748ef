import { isIPv4 } from 'node:net'

const STEP_MS = 10_000
/** Timeout of the whole conversation, and of the server to close its side after it. */
export const CONVERSATION_MS = 45_000
const CLOSE_MS = 5000

export const LONGEST_CONVERSATION_SECONDS = (CONVERSATION_MS + CLOSE_MS) / 1000

/** The mail server, and the origin that people see, whose host the wall calls itself by. */
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
    url,
    requireTLS,
    ...(name !== undefined && { name }),
    // Debian's mail server signs its own certificate, and nobody stands between two local programs.
    ...(isLocal && !requireTLS && { tls: { rejectUnauthorized: false } }),
    connectionTimeout: STEP_MS,
    greetingTimeout: STEP_MS,
    socketTimeout: STEP_MS,
    dnsTimeout: STEP_MS,
    socketCloseTimeout: CLOSE_MS,
  }
}

export function isLoopback(hostname: string): boolean {
  return /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/i.test(hostname)
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
