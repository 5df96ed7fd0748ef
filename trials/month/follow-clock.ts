/**
 * Loaded into the product's Node before anything else. Its long timers, those of its queue, its
 * limits and its steady clock follow the clock of the driver. The time limits of requests,
 * statements and mail conversations stay real, so that they mean what they mean in production.
 */
import { openSync, readSync, writeSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers'
import promises from 'node:timers/promises'
import { isMainThread } from 'node:worker_threads'
import { BEAT_AT, CLOCK_BYTES, isTorn, readClock, timeAt, toMs } from './clock-file.ts'

type Callback = (...args: unknown[]) => void

const MINUTE = 60_000
const LONGEST_TIMER = 2 ** 31
/** Shorter waits than this are those for the driver's clock. */
const TICK_MS = 25
const BEAT_MS = 10
const LONG_DELAY_MS = 10_000
/** Cron adds the runs of ten minutes at once, so that an idle day costs a tenth of the work. */
const CRON_LATE_MS = 9 * MINUTE
const AT_ONCE_MS = 5

const FOLLOWING = /kernel\/(limits\/limits|db\/clock|http\/refusal-log|live\/live|queue\/queue)\.ts/
const CRON = /graphile-worker\/dist\/cron\.js/
const QUEUE = /graphile-worker\/dist\/(cron|worker)\.js/
const MAILER = /node_modules\/nodemailer\//

const file = openSync(process.env.MONTH_CLOCK ?? '', 'r+')
const bytes = Buffer.alloc(CLOCK_BYTES)
const realTime = process.hrtime.bigint

function steadyMs(): number {
  do readSync(file, bytes, 0, CLOCK_BYTES, 0)
  while (isTorn(bytes))
  return toMs(timeAt(realTime(), readClock(bytes)))
}

/** Returns the file and line that called a function. */
function callerOf(callee: object): string {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 1
  const at = { stack: '' }
  Error.captureStackTrace(at, callee as () => void)
  Error.stackTraceLimit = stackTraceLimit
  return at.stack
}

function followPerformance(): void {
  const [real, start] = [performance.now.bind(performance), steadyMs()]
  performance.now = function now() {
    return FOLLOWING.test(callerOf(now)) ? steadyMs() - start + 1000 : real()
  }
  // nodemailer computes the deadlines of a connection from it.
  const [realDate, began] = [Date.now, Date.now()]
  Date.now = function now() {
    return MAILER.test(callerOf(now)) ? began + real() : realDate()
  }
}

function followTimers(): void {
  const { setTimeout: realTimeout, setInterval: realInterval } = globalThis
  const isLong = (ms: number) => ms >= MINUTE && ms < LONGEST_TIMER

  function setTimeout(callback: Callback, ms = 0, ...args: unknown[]) {
    const caller = ms > AT_ONCE_MS && ms <= MINUTE + 1 ? callerOf(setTimeout) : ''
    if (!isLong(ms) && !QUEUE.test(caller)) return realTimeout(callback, ms, ...args)
    const end = steadyMs() + ms + (CRON.test(caller) ? CRON_LATE_MS : 0)
    const look = () => void (steadyMs() < end ? timer.refresh() : callback(...args))
    const timer = realTimeout(look, TICK_MS)
    return timer
  }

  function setInterval(callback: Callback, ms = 0, ...args: unknown[]) {
    if (!isLong(ms)) return realInterval(callback, ms, ...args)
    let next = steadyMs() + ms
    return realInterval(() => {
      const now = steadyMs()
      if (now < next) return
      next = Math.max(next + ms, now)
      callback(...args)
    }, TICK_MS)
  }

  Object.defineProperties(setTimeout, Object.getOwnPropertyDescriptors(realTimeout))
  Object.defineProperties(setInterval, Object.getOwnPropertyDescriptors(realInterval))
  Object.assign(globalThis, { setTimeout, setInterval })
  Object.assign(timers, { setTimeout, setInterval })
}

function followDelays(): void {
  const real = promises.setTimeout
  async function setTimeout<T>(ms = 0, value?: T, options = {}): Promise<T | undefined> {
    if (ms < LONG_DELAY_MS) return real(ms, value, options)
    const end = steadyMs() + ms
    while (steadyMs() < end) await real(TICK_MS, undefined, options)
    return value
  }
  Object.assign(promises, { setTimeout })
}

/** Tells the driver that the process is not behind. */
function beat(): void {
  const now = Buffer.alloc(8)
  setInterval(() => {
    now.writeBigInt64LE(realTime())
    writeSync(file, now, 0, now.length, BEAT_AT)
  }, BEAT_MS).unref()
}

if (isMainThread && /scripts\/start\.ts$/.test(process.argv[1] ?? '')) beat()
followPerformance()
followTimers()
followDelays()
syncBuiltinESMExports()
