import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import proxyAddr from '@fastify/proxy-addr'
import type { FastifyBaseLogger } from 'fastify'
import { parseAddress } from '../limits/network.ts'

/** HTTP/1.1 requires one host; HTTP/1.0 may name none. */
export function namesItsHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0')
}

/** Makes the target a path: clients behind a proxy send the absolute form (RFC 9112, 3.2.2). */
export function useOriginForm(request: IncomingMessage): void {
  const [, path] = /^https?:\/\/[^/?#]*(.*)$/i.exec(request.url ?? '') ?? []
  if (path !== undefined) request.url = path.startsWith('/') ? path : `/${path}`
}

/**
 * Removes ports from X-Forwarded-For, so that limits, bans and the log see one address, and the
 * last entry that is no address with all to its left: no proxy vouches for them.
 */
export function cleanForwardedFor({ headers }: IncomingMessage): void {
  const value = headers['x-forwarded-for']
  if (typeof value !== 'string') return
  const parts = value.split(',').map((part) => withoutPort(part.trim()))
  const wrong = parts.findLastIndex((part) => isIP(part) === 0)
  headers['x-forwarded-for'] = parts.slice(wrong + 1).join(', ')
}

function withoutPort(address: string): string {
  return address.replace(/^\[(.*)\](?::\d{1,5})?$/, '$1').replace(/^([\d.]+):\d{1,5}$/, '$1')
}

/** Where a proxy of one's own stands: this machine and private networks (RFC 1918, RFC 4193). */
const OWN = ['loopback', 'private', 'uniqueLocal']

/** A socket for both kinds reports an IPv4 address as IPv6, which TRUST_PROXY does not know. */
export function plainAddress(address: string | undefined): string {
  return parseAddress(address)?.toString() ?? ''
}

/** Tells by Fastify's rule whether a peer may name its clients in X-Forwarded-For. */
export function proxyTrust(trustProxy: string[]): (address: string | undefined) => boolean {
  if (trustProxy.length === 0) return () => false
  const isTrusted = proxyAddr.compile(trustProxy)
  return (address) => address !== undefined && isTrusted(address, 0)
}

/**
 * Warns once if a proxy of one's own is missing in TRUST_PROXY: its visitors count as one. A
 * stranger who invents the header is not logged, since the address would be a visitor's.
 */
export function watchForwardedFor(
  trustProxy: string[],
  log: Pick<FastifyBaseLogger, 'warn'>,
): (request: IncomingMessage) => void {
  const isTrusted = proxyTrust(trustProxy)
  let hasWarned = false
  return ({ headers, socket }) => {
    if (hasWarned || headers['x-forwarded-for'] === undefined) return
    const range = parseAddress(socket.remoteAddress)?.range() ?? ''
    if (!OWN.includes(range) || isTrusted(socket.remoteAddress)) return
    hasWarned = true
    const proxy = plainAddress(socket.remoteAddress)
    log.warn(
      { proxy, set: `TRUST_PROXY=${[...trustProxy, proxy].join(',')}` },
      'a proxy that is not trusted sends X-Forwarded-For',
    )
  }
}
