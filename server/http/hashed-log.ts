import { createHmac } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import { networkOf } from '../rate-limits/network.ts'

/** 72 bits: enough to tell networks apart. */
const HASH_LENGTH = 12

/**
 * A logger that may be given callers' addresses: of a line's `network`, an address, it writes an HMAC of the address's
 * network, and of its `limitKey`, what a limit is counted by, an HMAC too. So lines of one caller can be put together,
 * and nobody without the secret learns who it was.
 */
export function hashAddresses(log: FastifyBaseLogger, key: Buffer): FastifyBaseLogger {
  const hash = (text: string) =>
    createHmac('sha256', key).update(text).digest('base64url').slice(0, HASH_LENGTH)
  const serializers = { network: (address: string) => hash(networkOf(address)), limitKey: hash }
  return log.child({}, { serializers })
}
