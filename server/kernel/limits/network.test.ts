import { expect, test } from 'vitest'
import { networkOf, widestNetworkOf } from './limits.ts'

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::ffff:c000:201', '192.0.2.1'],
  ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002:ffff:0:0:1', '2001:db8:1:2::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ['64:ff9b:1:2:3:4:192.0.2.1', '64:ff9b:1:2::/64'],
])('%s is counted as %s', (ip, network) => {
  expect(networkOf(ip)).toBe(network)
})

test('the widest network of one subscriber is an address of IPv4, and a /48 of IPv6', () => {
  const ips = ['192.0.2.1', '2001:db8:1:2::1', undefined]
  expect(ips.map(widestNetworkOf)).toEqual(['192.0.2.1', '2001:db8:1:0::/48', 'unknown'])
})

test('texts that are no addresses share one key, however long they are', () => {
  const all = networkOf('unknown')
  for (const ip of [undefined, 'a'.repeat(400), '1:2:3', '1.2.3.4.5']) {
    expect(networkOf(ip)).toBe(all)
  }
})
