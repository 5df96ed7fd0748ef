import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { CookieSerializeOptions } from '@fastify/cookie'
import { type Config, originOf } from '../../kernel/config/config.ts'

/** The session's id, and 256 random bits that prove its possession. */
export type SessionSecret = { id: string; secret: string }

export const IDLE_SECONDS = 30 * 86_400
export const LIFETIME_SECONDS = 90 * 86_400

export const BROWSER_SECONDS = 180 * 86_400

const FORMAT = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([A-Za-z0-9_-]{43})$/

export function newSessionSecret(id: string = randomUUID()): SessionSecret {
  return { id, secret: randomSecret() }
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

export type Site = Pick<Config, 'publicUrl' | 'port'>
export type Cookie = { name: string; options: CookieSerializeOptions }

/**
 * The name contains the port, because browsers send cookies to all ports of a host. Nodes of one
 * site that listen on different ports need a PUBLIC_URL to share their cookies.
 */
export function cookieOf(name: 'session' | 'browser', site: Site): Cookie {
  const { protocol, port } = new URL(originOf(site))
  const isHttps = protocol === 'https:'
  return {
    name: (isHttps ? '__Host-' : 'vslukh-') + name + (port && `-${port}`),
    options: { httpOnly: true, sameSite: 'strict', path: '/', secure: isHttps },
  }
}
