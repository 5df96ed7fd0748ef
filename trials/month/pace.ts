import { type Due, UNKNOWN } from './wall.ts'
import type { World } from './world.ts'

const PACING_MS = 3
/** How many times as fast as real time the clock runs at most. */
const RATES = {
  idle: 9000,
  calls: 300,
  storm: 300,
  jobs: 1800,
  leastForJobs: 200,
  careful: 120,
  mails: 200,
  waiting: 80,
  mail: 50,
  start: 30,
  behind: 6,
}
/** A database that is not busy answers within it. */
const QUICK_MS = 3
/** A product whose timers are later than this is behind. */
const BEHIND_MS = 150

type Mode = Exclude<keyof typeof RATES, 'leastForJobs'> | 'held'

/**
 * Lets the clock run fast while nobody waits for anything, and slowly while something is on its
 * way: a slow machine makes the month longer, not wrong.
 */
export class Pace {
  due: Due = UNKNOWN
  /** A rate that holds now, such as while the day is judged. */
  held: number | undefined
  isStorm = false
  /** For how many real milliseconds the clock ran in each mode. */
  readonly spent = new Map<Mode, number>()
  #setAt = performance.now()
  readonly #world: World
  readonly #timer: NodeJS.Timeout

  constructor(world: World) {
    this.#world = world
    this.#timer = setInterval(() => this.set(), PACING_MS)
    world.relay.onBusy = () => this.set()
  }

  set(): void {
    const mode = this.#mode()
    const now = performance.now()
    this.spent.set(mode, (this.spent.get(mode) ?? 0) + now - this.#setAt)
    this.#setAt = now
    this.#world.clock.run(this.#rateOf(mode))
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Runs `work` at a rate. */
  async holding<T>(rate: number, work: () => Promise<T>): Promise<T> {
    const before = this.held
    this.held = rate
    try {
      return await work()
    } finally {
      this.held = before
    }
  }

  #mode(): Mode {
    const { wall, relay, calls, waiting, clock } = this.#world
    if (!wall.isUp) return 'start'
    if (clock.silenceMs() > BEHIND_MS) return 'behind'
    if (this.held !== undefined) return 'held'
    if (relay.isBusy) return 'mail'
    if (waiting > 0 && relay.isUp) return 'waiting'
    if (this.due.careful > 0) return 'careful'
    if (this.due.mails > 0 && relay.isUp) return 'mails'
    if (calls > 0) return 'calls'
    if (this.due.jobs > 0 || this.due.isSoon) return 'jobs'
    return this.isStorm ? 'storm' : 'idle'
  }

  #rateOf(mode: Mode): number {
    if (mode === 'held') return this.held ?? RATES.start
    if (mode !== 'jobs') return RATES[mode]
    // A job that waits long for a busy database must not take hours.
    return Math.max(RATES.leastForJobs, RATES.jobs / Math.max(1, this.due.tookMs / QUICK_MS))
  }
}
