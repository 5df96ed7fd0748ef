import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

/** HTTP/1.1 requires one host; HTTP/1.0 may name none. */
export function namesItsHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0')
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
