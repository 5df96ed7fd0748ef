import { createHmac } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import { networkOf } from '../rate-limits/network.ts'

/** 72 bits, enough to distinguish networks. */
const HASH_LENGTH = 12

/**
 * Makes a logger that may be passed callers' addresses. Instead of a line's `network`, an address, it writes an HMAC of
 * the address's network, and instead of `limitKey`, the key of a rate limit, an HMAC of that. So one caller's lines can be
 * matched, and nobody without the secret learns who the caller was.
 */
export function hashAddresses(log: FastifyBaseLogger, key: Buffer): FastifyBaseLogger {
  const hash = (text: string) =>
    createHmac('sha256', key).update(text).digest('base64url').slice(0, HASH_LENGTH)
  const serializers = { network: (address: string) => hash(networkOf(address)), limitKey: hash }
  return log.child({}, { serializers })
}
