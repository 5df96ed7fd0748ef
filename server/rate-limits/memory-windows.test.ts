import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { MemoryWindows } from './memory-windows.ts'
import { createLimits } from './rate-limits.ts'

const passes = (charged: Promise<unknown>) =>
  charged.then(
    () => true,
    () => false,
  )

test('of more than 50,000 keys the half whose windows began first is forgotten', async () => {
  const windows = new MemoryWindows(1, 60)
  const isKnown = (n: number) => windows.isSpent(`key ${n}`)
  for (let n = 1; n <= 50_000; n++) await windows.consume(`key ${n}`)
  expect([isKnown(1), isKnown(25_001), isKnown(50_000)]).toEqual([true, true, true])
  await windows.consume('one more')
  expect([isKnown(1), isKnown(25_001), isKnown(50_000)]).toEqual([false, true, true])
})

test('a window ends by itself, and what was taken back does not count', async () => {
  const windows = new MemoryWindows(1, 0.05)
  await windows.consume('olga')
  expect(await passes(windows.consume('olga'))).toBe(false)
  await delay(60)
  await windows.consume('olga')
  await windows.reward('olga')
  expect(windows.isSpent('olga')).toBe(false)
  await windows.consume('olga')
  expect(windows.isSpent('olga')).toBe(true)
})

test('a flood from the networks of an IPv6 /32 is refused by the /32, which is refused before any narrower network is remembered', async () => {
  // A thousandth: 3 calls for a /64, 12 for a /56, 48 for a /48, 768 for a /32.
  const limits = createLimits({} as Pool, 0.001, Buffer.from('key'))
  const tripped: object[] = []
  limits.visitorCalls.onTripped = (by) => tripped.push(by)
  const call = (ip: string) => passes(limits.visitorCalls.chargeNetwork(ip))
  let passed = 0
  for (let n = 0; n < 2000; n++) if (await call(`2001:db8:${n.toString(16)}::1`)) passed++
  expect(passed).toBe(768)
  expect(tripped).toEqual([{ network: '2001:db8:300::1', within: '/32' }])
  expect(await call('2001:db9::1')).toBe(true)

  // Sixteen /64s of a /48 use it up. Whoever else comes from there is refused by the /48, before their own network is counted.
  for (let n = 0; n < 48; n++) expect(await call(`2001:dba:1:${n}00::1`)).toBe(true)
  for (let n = 0; n < 48; n++) expect(await call(`2001:dba:1:f${n}::1`)).toBe(false)
  expect(tripped.slice(1)).toEqual([{ network: '2001:dba:1:f0::1', within: '/48' }])
})
