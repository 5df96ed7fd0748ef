import type { IncomingMessage } from 'node:http'
import proxyAddr from '@fastify/proxy-addr'
import type { FastifyBaseLogger } from 'fastify'
import { parseAddress } from '../limits/network.ts'

/** The ranges in which a proxy of one's own stands: this machine and private networks (RFC 1918, RFC 4193). */
const OWN = ['loopback', 'private', 'uniqueLocal']

/** Returns an address as TRUST_PROXY takes it: an IPv4 address that a socket for both kinds reports is written as IPv4. */
export function plainAddress(address: string | undefined): string {
  return parseAddress(address)?.toString() ?? ''
}

/** Makes the function that says whether a peer may name its clients in X-Forwarded-For, by the same rule as Fastify's. */
export function proxyTrust(trustProxy: string[]): (address: string | undefined) => boolean {
  if (trustProxy.length === 0) return () => false
  const isTrusted = proxyAddr.compile(trustProxy)
  return (address) => address !== undefined && isTrusted(address, 0)
}

/**
 * Makes the function that warns once when a request with X-Forwarded-For comes from this machine or a private network, and
 * from a peer that is not trusted: a proxy is missing in TRUST_PROXY, and all its visitors are counted as one. A stranger
 * who invents the header is not logged: the address would be a visitor's.
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
