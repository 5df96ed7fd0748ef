import { isIPv4, isIPv6 } from 'node:net'

/**
 * Returns the key under which an address is counted: an IPv4 address itself, an IPv6 address's /64, which one subscriber
 * holds. Text that is no address, which a faulty proxy may send, shares one key with connections that have no address
 * because they were reset.
 */
export function networkOf(ip?: string): string {
  return networksOf(ip)[0]
}

/** Returns the widest network that one subscriber may hold: an IPv4 address itself, an IPv6 address's /48. */
export function widestNetworkOf(ip?: string): string {
  const [narrowest, , widest] = networksOf(ip)
  return widest ?? narrowest
}

/** Returns the keys of an address, the narrowest network first: for IPv6 its /64, /56, /48, and its provider's /32. */
export function networksOf(ip = ''): [string, ...string[]] {
  if (isIPv4(ip)) return [ip]
  // A server that listens on IPv6 sees IPv4 addresses as a part of it, and some proxies append a port to an address.
  const address = ip
    .replace(/^::ffff:(?=\d+\.)/i, '')
    .replace(/^\[(.*)\](?::\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1')
  if (isIPv4(address)) return [address]
  if (!isIPv6(address)) return ['unknown']
  const [a = 0, b = 0, c = 0, d = 0, ...rest] = groupsOf(address)
  if (a + b + c + d + (rest[0] ?? 0) === 0 && rest[1] === 0xffff) {
    return [[rest[2] ?? 0, rest[3] ?? 0].flatMap((group) => [group >> 8, group & 255]).join('.')]
  }
  const prefix = [a, b, c].map((group) => group.toString(16)).join(':')
  const at = (group: number, bits: number) => `${prefix}:${group.toString(16)}::/${bits}`
  return [at(d, 64), at(d & 0xff00, 56), at(0, 48), `${a.toString(16)}:${b.toString(16)}::/32`]
}

/** Returns the eight 16-bit groups of an IPv6 address, which a URL writes in hexadecimal only. */
function groupsOf(address: string): number[] {
  const { hostname } = new URL(`http://[${address.replace(/%.*/, '')}]`)
  const [left = [], right = []] = hostname.slice(1, -1).split('::').map(parseGroups)
  return [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right]
}

function parseGroups(part: string): number[] {
  return part
    .split(':')
    .filter(Boolean)
    .map((group) => Number.parseInt(group, 16))
}
