import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import proxyAddr from '@fastify/proxy-addr'
import type { FastifyBaseLogger } from 'fastify'
import { parseAddress } from '../limits/limits.ts'

const OWN = ['loopback', 'private', 'uniqueLocal']

/** A dual-stack socket reports IPv4 addresses as IPv6, which TRUST_PROXY does not match. */
export function plainAddress(address: string | undefined): string {
  return parseAddress(address)?.toString() ?? ''
}

/** Whether, by Fastify's rule, a peer may name its clients in X-Forwarded-For. */
export function proxyTrust(trustProxy: string[]): (address: string | undefined) => boolean {
  const isTrusted = proxyAddr.compile(trustProxy)
  return (address) => address !== undefined && isTrusted(address, 0)
}

/**
 * Creates the function that cleans a request's X-Forwarded-For. Warns once if the operator's own
 * proxy is missing in TRUST_PROXY; a stranger's address is not logged.
 */
export function createForwardedForCheck(
  trustProxy: string[],
  log: Pick<FastifyBaseLogger, 'warn'>,
) {
  const isTrusted = proxyTrust(trustProxy)
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

/** Removes ports, and the last entry that is no address with all to its left. */
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

/** Creates the function that returns a visitor's address, by Fastify's rule. */
export function clientAddress(trustProxy: string[]) {
  const isTrusted = proxyAddr.compile(trustProxy)
  return (request: IncomingMessage): string | undefined =>
    trustProxy.length === 0 ? request.socket.remoteAddress : proxyAddr(request, isTrusted)
}
