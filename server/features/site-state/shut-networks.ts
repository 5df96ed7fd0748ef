import ipaddr from 'ipaddr.js'
import type { Change } from '../../kernel/cache/change-feed.ts'
import type { Db } from '../../kernel/db/database.ts'
import { parseAddress } from '../../kernel/limits/limits.ts'
import { selectBans } from './site-state.repository.ts'

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Range = [Address, number]

const MISSED_MS = 60_000

/** The networks whose bans cover all. Each request is compared with them, so they are in memory. */
export class ShutNetworks {
  isEmpty = true
  #shut: { range: Range; until: number }[] = []
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  includes(address: string | undefined): boolean {
    const parsed = parseAddress(address)
    return this.#shut.some(({ range, until }) => until > Date.now() && contains(range, parsed))
  }

  note(change: Change): void {
    if (change.kind === 'edited' && change.postId === undefined) void this.#read()
  }

  /** Reads them now and each minute, since changes can be missed. Returns the function that stops it. */
  watch(): () => void {
    void this.#read()
    const timer = setInterval(() => void this.#read(), MISSED_MS).unref()
    return () => clearInterval(timer)
  }

  /** Without the database the bans stay as they were. */
  async #read(): Promise<void> {
    const bans = await selectBans(this.#db).catch(() => undefined)
    if (!bans) return
    this.#shut = bans
      .filter(({ coversAll }) => coversAll)
      .map(({ value, until }) => ({ range: rangeOf(value), until: until?.getTime() ?? Infinity }))
    this.isEmpty = this.#shut.length === 0
  }
}

export function rangeOf(network: string): Range {
  const bits = network.includes(':') ? 128 : 32
  return ipaddr.parseCIDR(network.includes('/') ? network : `${network}/${bits}`)
}

export function contains([network, bits]: Range, address: Address | undefined): boolean {
  return address?.kind() === network.kind() && address.match(network, bits)
}
