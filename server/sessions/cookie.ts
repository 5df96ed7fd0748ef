import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { CookieSerializeOptions } from '@fastify/cookie'

/** What the session cookie holds: the session's id, which finds it, and 256 random bits, which prove it. */
export type SessionSecret = { id: string; secret: string }

export const IDLE_SECONDS = 30 * 86_400
export const LIFETIME_SECONDS = 90 * 86_400

const FORMAT = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([A-Za-z0-9_-]{43})$/

export function newSessionSecret(id: string = randomUUID()): SessionSecret {
  return { id, secret: randomBytes(32).toString('base64url') }
}

/** Reads a cookie's value; null when it is none of ours. */
export function parseSessionCookie(value: string | undefined): SessionSecret | null {
  const [, id, secret] = FORMAT.exec(value ?? '') ?? []
  return id && secret ? { id, secret } : null
}

export function formatSessionCookie({ id, secret }: SessionSecret): string {
  return `${id}.${secret}`
}

/** What the database keeps of a secret: a random one needs no salt. */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

/** Name and attributes of the session cookie for an origin people reach by https or not. */
export function sessionCookie(isHttps: boolean): { name: string; options: CookieSerializeOptions } {
  return {
    name: isHttps ? '__Host-session' : 'session',
    options: { httpOnly: true, sameSite: 'strict', path: '/', secure: isHttps },
  }
}
