import ipaddr from 'ipaddr.js'
import type { Change } from '../../kernel/cache/change-feed.ts'
import type { Db } from '../../kernel/db/database.ts'
import { parseAddress } from '../../kernel/limits/limits.ts'
import { selectBans } from './site-state.repository.ts'

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Range = [Address, number]
type ShutNetwork = { range: Range; until: number }

const MISSED_MS = 60_000

/** Holds the networks whose bans cover all, in memory, because each request is compared. */
export class ShutNetworks {
  isEmpty = true
  /** Those with the latest end first; `until` is Infinity without an end. */
  #shut: ShutNetwork[] = []
  #isReading = false
  #isOutdated = false
  readonly #db: Db
  readonly #onShut: () => void

  /** `onShut` is called after each read in which a network is shut. */
  constructor(db: Db, onShut: () => void) {
    this.#db = db
    this.#onShut = onShut
  }

  /** Returns until when an address is shut, Infinity without an end; undefined if it is not. */
  shutUntil(address: string | undefined): number | undefined {
    const parsed = parseAddress(address)
    const isShut = ({ range, until }: ShutNetwork) => until > Date.now() && contains(range, parsed)
    return this.#shut.find(isShut)?.until
  }

  /** Reads the bans again after a change that may be about them. */
  readAfter(change: Change): void {
    if (change.kind === 'edited' && change.postId === undefined) void this.#readNow()
  }

  /** Reads the bans now and each minute, because changes can be missed. Returns a stop function. */
  watch(): () => void {
    void this.#readNow()
    const timer = setInterval(() => void this.#readNow(), MISSED_MS).unref()
    return () => clearInterval(timer)
  }

  /** Reads the bans. Changes during a read share the next one, which waits for its end. */
  async #readNow(): Promise<void> {
    this.#isOutdated = true
    if (this.#isReading) return
    this.#isReading = true
    while (this.#isOutdated) {
      this.#isOutdated = false
      await this.#read()
    }
    this.#isReading = false
  }

  /** They stay as they were if the database is unavailable. */
  async #read(): Promise<void> {
    const bans = await selectBans(this.#db).catch(() => undefined)
    if (!bans) return
    this.#shut = bans
      .filter(({ coversAll }) => coversAll)
      .map(({ value, until }) => ({ range: rangeOf(value), until: until?.getTime() ?? Infinity }))
      .sort((one, other) => other.until - one.until)
    this.isEmpty = this.#shut.length === 0
    if (!this.isEmpty) this.#onShut()
  }
}

export function rangeOf(network: string): Range {
  const bits = network.includes(':') ? 128 : 32
  return ipaddr.parseCIDR(network.includes('/') ? network : `${network}/${bits}`)
}

export function contains([network, bits]: Range, address: Address | undefined): boolean {
  return address?.kind() === network.kind() && address.match(network, bits)
}
