import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import proxyAddr from '@fastify/proxy-addr'
import type { FastifyBaseLogger } from 'fastify'
import { parseAddress } from '../limits/limits.ts'

const OWN = ['loopback', 'private', 'uniqueLocal']

/** Returns an IPv4 address in its own form, since a dual-stack socket reports it as IPv6. */
export function plainAddress(address: string | undefined): string {
  return parseAddress(address)?.toString() ?? ''
}

/** Creates a function that returns, by Fastify's rule, whether a peer is a trusted proxy. */
export function createProxyCheck(trustProxy: string[]): (address: string | undefined) => boolean {
  const isTrusted = proxyAddr.compile(trustProxy)
  return (address) => address !== undefined && isTrusted(address, 0)
}

/** Creates a function that cleans X-Forwarded-For, and warns once of an untrusted private proxy. */
export function createForwardedForCheck(
  trustProxy: string[],
  log: Pick<FastifyBaseLogger, 'warn'>,
) {
  const isTrusted = createProxyCheck(trustProxy)
  let hasWarned = false
  return (request: IncomingMessage): void => {
    const peer = request.socket.remoteAddress
    if (!hasWarned && OWN.includes(parseAddress(peer)?.range() ?? '') && !isTrusted(peer)) {
      hasWarned = true
      const proxy = plainAddress(peer)
      const set = `TRUST_PROXY=${[...trustProxy, proxy].join(',')}`
      log.warn({ proxy, set }, 'a proxy that is not trusted sends X-Forwarded-For')
    }
    if (trustProxy.length > 0) clean(request)
  }
}

/** Removes ports, and the last entry that is not an address together with all entries before it. */
function clean({ headers }: IncomingMessage): void {
  const value = headers['x-forwarded-for']
  if (typeof value !== 'string') return
  const parts = value.split(',').map((part) => withoutPort(part.trim()))
  const wrong = parts.findLastIndex((part) => isIP(part) === 0)
  headers['x-forwarded-for'] = parts.slice(wrong + 1).join(', ')
}

function withoutPort(address: string): string {
  return address.replace(/^\[(.*)\](?::\d{1,5})?$/, '$1').replace(/^([\d.]+):\d{1,5}$/, '$1')
}

/** Creates a function that returns, by Fastify's rule, the client's address. */
export function createAddressReader(trustProxy: string[]) {
  const isTrusted = proxyAddr.compile(trustProxy)
  return (request: IncomingMessage): string | undefined =>
    trustProxy.length === 0 ? request.socket.remoteAddress : proxyAddr(request, isTrusted)
}
