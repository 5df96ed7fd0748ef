/** The layout of the clock's file, also in clock.c: 64-bit integers, the times in nanoseconds. */
const AT = { written: 0, since: 8, time: 16, rate: 24, jump: 32, lease: 40, writtenToo: 48 }

export const CLOCK_BYTES = 56
/** Where the product writes when it last ran a timer. */
export const BEAT_AT = 64
export const FILE_BYTES = 4096

const MS = 1e6
/** Rates are stored in thousandths. */
const THOUSAND = 1000n

export type ClockState = {
  /** The real time at which the clock was set. */
  since: bigint
  /** What it showed then. */
  time: bigint
  /** How many times as fast as the real time it runs, in thousandths. */
  rate: bigint
  /** By how much the wall clock is wrong. */
  jump: bigint
  /** For how long it runs unless it is set again. */
  lease: bigint
}

export function writeClock(bytes: Buffer, state: ClockState, count: bigint): void {
  for (const name of ['since', 'time', 'rate', 'jump', 'lease'] as const) {
    bytes.writeBigInt64LE(state[name], AT[name])
  }
  bytes.writeBigInt64LE(count, AT.written)
  bytes.writeBigInt64LE(count, AT.writtenToo)
}

/** Whether the file was read while it was written. */
export const isTorn = (bytes: Buffer) =>
  bytes.readBigInt64LE(AT.written) !== bytes.readBigInt64LE(AT.writtenToo)

export function readClock(bytes: Buffer): ClockState {
  const [since, time] = [bytes.readBigInt64LE(AT.since), bytes.readBigInt64LE(AT.time)]
  const [rate, jump] = [bytes.readBigInt64LE(AT.rate), bytes.readBigInt64LE(AT.jump)]
  return { since, time, rate, jump, lease: bytes.readBigInt64LE(AT.lease) }
}

/** Returns the time in nanoseconds, without the jump. */
export function timeAt(real: bigint, { since, time, rate, lease }: ClockState): bigint {
  const passed = real - since
  return time + ((passed < lease ? passed : lease) * rate) / THOUSAND
}

export const toMs = (nanoseconds: bigint) => Number(nanoseconds) / MS
export const fromMs = (ms: number) => BigInt(Math.round(ms)) * BigInt(MS)
export const toRate = (times: number) => BigInt(Math.round(times * Number(THOUSAND)))
