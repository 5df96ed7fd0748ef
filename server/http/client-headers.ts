import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

/** Whether a request names one host, as HTTP/1.1 requires; HTTP/1.0 may name none. */
export function namesItsHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0
  for (let place = 0; place < rawHeaders.length; place += 2) {
    const name = rawHeaders[place] ?? ''
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0')
}

/**
 * Removes from X-Forwarded-For the last entry that is no address, and all before it: each proxy appends the address of its
 * client on the right, so that no proxy vouches for what stands left of an invalid entry.
 */
export function cleanForwardedFor({ headers }: IncomingMessage): void {
  const value = headers['x-forwarded-for']
  if (typeof value !== 'string') return
  const parts = value.split(',').map((part) => part.trim())
  const wrong = parts.findLastIndex((part) => !isAddress(part))
  if (wrong === -1) return
  headers['x-forwarded-for'] = parts.slice(wrong + 1).join(', ')
}

/** Whether a text is an IP address, perhaps with a port, which some proxies append. */
function isAddress(text: string): boolean {
  const bare = text.replace(/^\[(.*)\](?::\d{1,5})?$/, '$1').replace(/^([\d.]+):\d{1,5}$/, '$1')
  return isIP(bare) !== 0
}
