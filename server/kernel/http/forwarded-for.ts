import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import proxyAddr from '@fastify/proxy-addr'
import type { FastifyBaseLogger } from 'fastify'
import { parseAddress } from '../limits/limits.ts'

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
   * Warns once if a proxy of one's own is missing in TRUST_PROXY: its visitors count as one. A
   * stranger who invents the header is not logged, since the address would be a visitor's.
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
 * Removes ports from X-Forwarded-For, so that limits, bans and the log see one address, and the
 * last entry that is no address with all to its left: no proxy vouches for them.
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
