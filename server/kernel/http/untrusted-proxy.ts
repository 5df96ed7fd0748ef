import type { IncomingMessage } from 'node:http'
import proxyAddr from '@fastify/proxy-addr'
import type { FastifyBaseLogger } from 'fastify'
import { parseAddress } from '../limits/network.ts'

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
