import { chmodSync, closeSync, ftruncateSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import {
  BEAT_AT,
  CLOCK_BYTES,
  type ClockState,
  FILE_BYTES,
  fromMs,
  timeAt,
  toMs,
  toRate,
  writeClock,
} from './clock-file.ts'

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** A driver that is busy for longer than this stops the clock, instead of missing what passes. */
const LEASE_MS = 50
const LOOK_MS = 2

/** The wall clock of the product, in a file in memory. It runs at the rate that the driver sets. */
export class Clock {
  readonly path: string
  readonly #fd: number
  readonly #bytes = Buffer.alloc(CLOCK_BYTES)
  readonly #beat = Buffer.alloc(8)
  #count = 0n
  #state: ClockState

  constructor(path: string, startMs: number) {
    this.path = path
    this.#fd = openSync(path, 'w+')
    ftruncateSync(this.#fd, FILE_BYTES)
    // The embedded PostgreSQL may run as another user.
    chmodSync(path, 0o644)
    const lease = fromMs(LEASE_MS)
    this.#state = { since: 0n, time: fromMs(startMs), rate: toRate(1), jump: 0n, lease }
    this.#set({ since: process.hrtime.bigint() })
  }

  /** What the product's wall clock shows, in unix milliseconds. */
  now(): number {
    return toMs(timeAt(process.hrtime.bigint(), this.#state) + this.#state.jump)
  }

  /** The same without jumps: how much time has passed. */
  steady(): number {
    return toMs(timeAt(process.hrtime.bigint(), this.#state))
  }

  /** Lets the clock run at this rate for a moment. */
  run(rate: number): void {
    this.#rebase({ rate: toRate(rate) })
  }

  /** Makes the wall clock wrong by this much, while the same time passes. */
  jump(ms: number): void {
    this.#rebase({ jump: fromMs(ms) })
  }

  /** Lets time pass at once, as for a machine that was off. */
  leap(ms: number): void {
    this.#rebase({})
    this.#set({ time: this.#state.time + fromMs(ms) })
  }

  /** Returns for how many real milliseconds the product has run no timer. */
  silenceMs(): number {
    readSync(this.#fd, this.#beat, 0, this.#beat.length, BEAT_AT)
    return toMs(process.hrtime.bigint() - this.#beat.readBigInt64LE())
  }

  async until(steadyMs: number): Promise<void> {
    while (this.steady() < steadyMs) await delay(LOOK_MS)
  }

  pass(ms: number): Promise<void> {
    return this.until(this.steady() + ms)
  }

  /** Returns the time for people, such as `2026-12-03 16:40`. */
  label(ms = this.now()): string {
    return new Date(ms).toISOString().slice(0, 16).replace('T', ' ')
  }

  close(): void {
    closeSync(this.#fd)
    rmSync(this.path, { force: true })
  }

  #rebase(changes: Partial<ClockState>): void {
    const since = process.hrtime.bigint()
    this.#set({ since, time: timeAt(since, this.#state), ...changes })
  }

  #set(changes: Partial<ClockState>): void {
    this.#state = { ...this.#state, ...changes }
    writeClock(this.#bytes, this.#state, ++this.#count)
    writeSync(this.#fd, this.#bytes, 0, CLOCK_BYTES, 0)
  }
}
