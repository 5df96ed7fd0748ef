import { parseAddress } from '../../kernel/limits/network.ts'

/** Returns an address or network (CIDR) as PostgreSQL reads it, one of IPv4 without `::ffff:`. */
export function normalNetwork(value: string): string | undefined {
  const [, written = '', bits] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(value) ?? []
  const address = parseAddress(written)
  if (address === undefined || bits === undefined) return address?.toString()
  const [most, mapped] = address.kind() === 'ipv6' ? [128, 0] : [32, written.includes(':') ? 96 : 0]
  // Of a mapped address the first 96 bits say only that it is one.
  const length = Number(bits) - mapped
  return length >= 0 && length <= most ? `${address}/${length}` : undefined
}

/** Whether a network contains more people than anybody means: wider than /8, or IPv6 /16. */
export function isVast(network: string): boolean {
  const [address = '', bits = 128] = network.split('/')
  return Number(bits) < (address.includes(':') ? 16 : 8)
}
