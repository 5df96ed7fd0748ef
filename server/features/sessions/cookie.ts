import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { CookieSerializeOptions } from '@fastify/cookie'
import { type Config, originOf } from '../../kernel/config/config.ts'

/** The session's id, and 256 bits that prove its possession: see `signSecret`. */
export type SessionSecret = { id: string; secret: string }

export const IDLE_SECONDS = 30 * 86_400
export const LIFETIME_SECONDS = 90 * 86_400

export const BROWSER_SECONDS = 180 * 86_400

const FORMAT = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([A-Za-z0-9_-]{43})$/

const NUMBER_BYTES = 4
const RANDOM_BYTES = 16
const MAC_BYTES = 12

/**
 * Returns a session's secret: its number, 128 random bits, and 96 bits of an HMAC over both. The
 * HMAC lets the server recognise its own secret after a restore has taken its hash back.
 */
export function signSecret(
  { id, number }: { id: string; number: number },
  key: Buffer,
  random = randomBytes(RANDOM_BYTES),
): SessionSecret {
  const content = Buffer.alloc(NUMBER_BYTES + RANDOM_BYTES)
  content.writeUInt32BE(number)
  random.copy(content, NUMBER_BYTES, 0, RANDOM_BYTES)
  const bytes = Buffer.concat([content, secretMac(id, content, key)])
  return { id, secret: bytes.toString('base64url') }
}

/** Returns the number of a secret that was signed with the key; undefined for any other secret. */
export function secretNumberOf({ id, secret }: SessionSecret, key: Buffer): number | undefined {
  const bytes = Buffer.from(secret, 'base64url')
  const content = bytes.subarray(0, NUMBER_BYTES + RANDOM_BYTES)
  const mac = bytes.subarray(NUMBER_BYTES + RANDOM_BYTES)
  return timingSafeEqual(mac, secretMac(id, content, key)) ? content.readUInt32BE() : undefined
}

function secretMac(id: string, content: Buffer, key: Buffer): Buffer {
  const mac = createHmac('sha256', key).update(id).update(content)
  return mac.digest().subarray(0, MAC_BYTES)
}

export function randomSecret(): string {
  return randomBytes(32).toString('base64url')
}

export function parseSessionCookie(value: string | undefined): SessionSecret | null {
  const [, id, secret] = FORMAT.exec(value ?? '') ?? []
  return id && secret ? { id, secret } : null
}

export function formatSessionCookie({ id, secret }: SessionSecret): string {
  return `${id}.${secret}`
}

/** Returns the SHA-256 of a secret. A random secret needs no salt. */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

const BROWSER_FORMAT = /^[A-Za-z0-9_-]{43}$/

export function parseBrowserCookie(value: string | undefined): string | undefined {
  return value !== undefined && BROWSER_FORMAT.test(value) ? value : undefined
}

export type SiteAddress = Pick<Config, 'publicUrl' | 'port'>
export type Cookie = { name: string; options: CookieSerializeOptions }

/**
 * The name contains the port, because browsers send cookies to all ports of a host. Nodes of one
 * site that listen on different ports need a PUBLIC_URL to share their cookies.
 */
export function cookieOf(name: 'session' | 'browser', site: SiteAddress): Cookie {
  const { protocol, port } = new URL(originOf(site))
  const isHttps = protocol === 'https:'
  return {
    name: (isHttps ? '__Host-' : 'vslukh-') + name + (port && `-${port}`),
    options: { httpOnly: true, sameSite: 'strict', path: '/', secure: isHttps },
  }
}
