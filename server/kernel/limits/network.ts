import { createHmac } from 'node:crypto'
import { isIP, isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Without its zone, which names an interface of one machine; IPv4 in IPv6 is IPv4. */
export function parseAddress(text = ''): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const address = text.replace(/%.*/s, '')
  // Node is strict about what an address is: ipaddr.js reads `1.2.3` too.
  return isIP(address) === 0 ? undefined : ipaddr.process(address)
}

/** What a faulty proxy sends in place of an address shares one key with reset connections. */
export function networkOf(ip?: string): string {
  return networksOf(ip)[0]
}

/** Returns the widest network that one subscriber may hold: an IPv4 address, an IPv6 /48. */
export function widestNetworkOf(ip?: string): string {
  const [narrowest, , widest] = networksOf(ip)
  return widest ?? narrowest
}

/** Returns an address's keys, the narrowest first: of IPv6 its /64, /56, /48 and /32. */
export function networksOf(ip = ''): [string, ...string[]] {
  if (isIPv4(ip)) return [ip]
  const address = parseAddress(ip)
  if (address === undefined) return ['unknown']
  if (!('parts' in address)) return [address.toString()]
  const [a = 0, b = 0, c = 0, d = 0] = address.parts
  const hex = (...groups: number[]) => groups.map((group) => group.toString(16)).join(':')
  return [
    `${hex(a, b, c, d)}::/64`,
    `${hex(a, b, c, d & 0xff00)}::/56`,
    `${hex(a, b, c, 0)}::/48`,
    `${hex(a, b)}::/32`,
  ]
}

/** Enough to tell the networks of a wall's people apart, and shared by 256 IPv4 addresses each. */
const HASH_BYTES = 3

/**
 * Returns the beginning of a keyed hash of a subscriber's network. Null for the machine's own
 * addresses, which are those of an untrusted proxy.
 */
export function hashNetwork(ip: string, key: Buffer): Buffer | null {
  const network = widestNetworkOf(ip)
  if (/^(127\.|0:0:0::|unknown$)/.test(network)) return null
  return createHmac('sha256', key).update(`network ${network}`).digest().subarray(0, HASH_BYTES)
}
