import { BlockList, isIP } from 'node:net'

const MAPPED = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/

/** Returns an address in its shortest spelling, one of IPv4 without `::ffff:`; an empty string for what is none. */
export function normalAddress(address: string): string {
  // An address with a zone names an interface of one machine.
  if (isIP(address) !== 6) return isIP(address) === 4 ? address : ''
  if (address.includes('%')) return ''
  const shortest = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [, high, low] = MAPPED.exec(shortest) ?? []
  if (high === undefined || low === undefined) return shortest
  const bytes = [high, low].map((part) => Number.parseInt(part, 16))
  return bytes.flatMap((part) => [part >> 8, part & 255]).join('.')
}

/** Returns an address or network (CIDR) as it is stored; undefined for what is none. */
export function normalNetwork(value: string): string | undefined {
  const [written = '', bits, ...more] = value.split('/')
  const address = normalAddress(written)
  const version = isIP(address)
  if (version === 0 || more.length > 0) return undefined
  if (bits === undefined) return address
  // Of a mapped address the first 96 bits say only that it is one.
  const length = /^\d{1,3}$/.test(bits) ? Number(bits) - (version < isIP(written) ? 96 : 0) : -1
  return length >= 0 && length <= (version === 4 ? 32 : 128) ? `${address}/${length}` : undefined
}

const WIDEST = { 4: 8, 6: 16 }

/** Whether a network, as `normalNetwork` returns it, contains more people than anybody means: wider than /8, or /16 of IPv6. */
export function isVast(network: string): boolean {
  const [address = '', bits] = network.split('/')
  return bits !== undefined && Number(bits) < WIDEST[isIP(address) === 4 ? 4 : 6]
}

/** Whether an address, as `normalAddress` returns it, is in one of these networks. A value that is no network is skipped. */
export function isInNetworks(address: string, values: string[]): boolean {
  const networks = new BlockList()
  for (const value of values) {
    const [network = '', bits] = normalNetwork(value)?.split('/') ?? []
    const version = isIP(network)
    if (version === 0) continue
    if (bits === undefined) networks.addAddress(network, familyOf(version))
    else networks.addSubnet(network, Number(bits), familyOf(version))
  }
  return networks.check(address, familyOf(isIP(address)))
}

function familyOf(version: number): 'ipv4' | 'ipv6' {
  return version === 4 ? 'ipv4' : 'ipv6'
}
