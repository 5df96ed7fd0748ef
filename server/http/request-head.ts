import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

/** Whether a request names one host, as HTTP/1.1 demands; HTTP/1.0 may name none. */
export function namesItsHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0
  for (let place = 0; place < rawHeaders.length; place += 2) {
    const name = rawHeaders[place] ?? ''
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0')
}

/**
 * Cuts from X-Forwarded-For what is no address, and all before it: each proxy adds on the right whom it was asked by, so
 * that nobody vouches for what stands left of nonsense.
 */
export function cleanForwardedFor({ headers }: IncomingMessage): void {
  const said = headers['x-forwarded-for']
  if (typeof said !== 'string') return
  const parts = said.split(',').map((part) => part.trim())
  const wrong = parts.findLastIndex((part) => !isAddress(part))
  if (wrong === -1) return
  headers['x-forwarded-for'] = parts.slice(wrong + 1).join(', ')
}

/** An IP address; some proxies put a port behind it. */
function isAddress(text: string): boolean {
  const bare = text.replace(/^\[(.*)\](?::\d{1,5})?$/, '$1').replace(/^([\d.]+):\d{1,5}$/, '$1')
  return isIP(bare) !== 0
}
