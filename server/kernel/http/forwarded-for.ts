import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import proxyAddr from '@fastify/proxy-addr'
import type { FastifyBaseLogger } from 'fastify'
import { parseAddress } from '../limits/limits.ts'

/**
 * Addresses where the operator's own proxy may be: this machine and private networks (RFC 1918, RFC
 * 4193).
 */
const OWN = ['loopback', 'private', 'uniqueLocal']

/** A dual-stack socket reports IPv4 addresses as IPv6, which TRUST_PROXY does not match. */
export function plainAddress(address: string | undefined): string {
  return parseAddress(address)?.toString() ?? ''
}

/** Whether, by Fastify's rule, a peer may name its clients in X-Forwarded-For. */
export function proxyTrust(trustProxy: string[]): (address: string | undefined) => boolean {
  if (trustProxy.length === 0) return () => false
  const isTrusted = proxyAddr.compile(trustProxy)
  return (address) => address !== undefined && isTrusted(address, 0)
}

export class ForwardedFor {
  readonly #trustProxy: string[]
  readonly #log: Pick<FastifyBaseLogger, 'warn'>
  readonly #isTrusted: (address: string | undefined) => boolean
  #hasWarned = false

  constructor(trustProxy: string[], log: Pick<FastifyBaseLogger, 'warn'>) {
    this.#trustProxy = trustProxy
    this.#log = log
    this.#isTrusted = proxyTrust(trustProxy)
  }

  check(request: IncomingMessage): void {
    if (!this.#hasWarned) this.#warnOfOwnProxy(request.socket.remoteAddress)
    if (this.#trustProxy.length > 0) clean(request)
  }

  /**
   * Warns once if the operator's own proxy is missing in TRUST_PROXY, since its visitors count as
   * one. A stranger who invents the header is not logged: the address would be a visitor's.
   */
  #warnOfOwnProxy(peer: string | undefined): void {
    const range = parseAddress(peer)?.range() ?? ''
    if (!OWN.includes(range) || this.#isTrusted(peer)) return
    this.#hasWarned = true
    const proxy = plainAddress(peer)
    const set = `TRUST_PROXY=${[...this.#trustProxy, proxy].join(',')}`
    this.#log.warn({ proxy, set }, 'a proxy that is not trusted sends X-Forwarded-For')
  }
}

/**
 * Removes ports from X-Forwarded-For, so that limits, bans and the log see one address. Also
 * removes the last entry that is not an address and all entries to its left: no proxy vouches for
 * them.
 */
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

/** Makes the function that returns a visitor's address, by the same rule as Fastify's. */
export function clientAddress(
  trustProxy: string[],
): (request: IncomingMessage) => string | undefined {
  if (trustProxy.length === 0) return ({ socket }) => socket.remoteAddress
  const isTrusted = proxyAddr.compile(trustProxy)
  return (request) => proxyAddr(request, isTrusted)
}
