import { setTimeout as delay } from 'node:timers/promises'
import type { HeldPostgres, Statement } from './held-postgres.ts'
import type { Answer } from './world.ts'

/** One of two calls that run at once, and the PostgreSQL of its node. */
export type Side = { postgres: HeldPostgres; call: () => Promise<Answer> }
export type Sides = [Side, Side]
type Which = 0 | 1

type Step = { side: Which; text: string; endsTransaction: boolean }
type Run = { answers: [Answer, Answer]; steps: Step[] }

type IsBlocked = (pid: number) => Promise<boolean>

/** The sides that pass the first statements; then the same side goes on while it can. */
type Plan = Which[]
type Choice = { chosen: Which; other: Which | undefined; switchesToOther: number }

/** How long to wait for an event before the locks are checked. */
const LOCK_CHECK_MS = 3
/** A call that has not gone on after this many looks is at a standstill. */
const STANDSTILL_LOOKS = 5000

/** Statements that neither change nor lock rows that others use: these pass at once. */
const WITHOUT_EFFECT =
  /^\s*(begin|start transaction|set local|select pg_notify)|\brate_limits\b|clock_timestamp\(\)\) \* 1000/i

/**
 * Runs the two calls in `most` orders of their statements, those with the fewest switches first. A
 * switch leaves a side that could go on. `begin` restores the state before each run. Chance can
 * prevent a plan, such as which of two calls a deadlock ends: such a run counts in its place.
 * Resolves to the largest number of switches of which all orders were run; undefined if all were.
 */
export async function inOrders(
  begin: () => Promise<Sides>,
  { isBlocked, most }: { isBlocked: IsBlocked; most: number },
  onRun: (run: Run) => Promise<void>,
): Promise<{ count: number; switches: number | undefined }> {
  const plans: Plan[][] = [[[]]]
  let count = 0
  for (let switches = 0; switches < plans.length; switches++) {
    for (const plan of plans[switches] ?? []) {
      if (count === most) return { count, switches: switches - 1 }
      count++
      const { choices, ...run } = await runOnce(await begin(), { plan, isBlocked })
      await onRun(run)
      for (const [at, { other, switchesToOther }] of choices.entries()) {
        if (at < plan.length || other === undefined) continue
        const before = choices.slice(0, at).map(({ chosen }) => chosen)
        plans[switchesToOther] ??= []
        plans[switchesToOther].push([...before, other])
      }
    }
  }
  return { count, switches: undefined }
}

/** Runs one side whole after each statement of the other, of which some end a transaction. */
export async function betweenTransactions(
  begin: () => Promise<Sides>,
  { isBlocked, stepwise }: { isBlocked: IsBlocked; stepwise: Which },
  onRun: (run: Run, isBetween: boolean) => Promise<void>,
): Promise<void> {
  let length = 0
  for (let before = 1; before === 1 || before <= length; before++) {
    const plan: Plan = [...Array<Which>(before).fill(stepwise), stepwise === 0 ? 1 : 0]
    const run = await runOnce(await begin(), { plan, isBlocked })
    length = run.steps.filter(({ side }) => side === stepwise).length
    const { side, endsTransaction } = run.steps[before - 1] ?? {}
    await onRun(run, side === stepwise && endsTransaction === true)
  }
}

async function runOnce(sides: Sides, { plan, isBlocked }: { plan: Plan; isBlocked: IsBlocked }) {
  const play = new Play(sides, isBlocked)
  const choices: Choice[] = []
  const steps: Step[] = []
  let last: Which | undefined
  let switches = 0
  try {
    for (;;) {
      const ready = await play.settle(() => namesOf(steps))
      const [first] = ready
      if (first === undefined) break
      const wanted = plan[choices.length] ?? last
      const chosen = wanted !== undefined && ready.includes(wanted) ? wanted : first
      const other = ready.find((side) => side !== chosen)
      choices.push({ chosen, other, switchesToOther: switches + (last === undefined ? 0 : 1) })
      if (last === other && other !== undefined) switches++
      last = chosen
      steps.push(play.pass(chosen))
    }
    return { answers: await play.answers, steps, choices }
  } finally {
    play.release()
  }
}

type Held = { side: Which; statement: Statement }

class Play {
  readonly answers: Promise<[Answer, Answer]>
  readonly #sides: Sides
  readonly #isBlocked: IsBlocked
  readonly #unanswered = new Set<Which>([0, 1])
  #waiting: Held[] = []
  readonly #running = new Set<Held>()
  /** Those of the running that wait for a lock. */
  readonly #blocked = new Set<Held>()
  #events = 0
  #next = Promise.withResolvers<void>()

  constructor(sides: Sides, isBlocked: IsBlocked) {
    this.#sides = sides
    this.#isBlocked = isBlocked
    this.answers = Promise.all([this.#start(0), this.#start(1)])
    this.answers.catch(() => {})
  }

  #start(side: Which): Promise<Answer> {
    const { postgres, call } = this.#sides[side]
    postgres.listen((statement) => {
      this.#waiting.push({ side, statement })
      this.#wake()
    })
    return call().finally(() => {
      this.#unanswered.delete(side)
      this.#wake()
    })
  }

  #wake(): void {
    this.#events++
    this.#next.resolve()
    this.#next = Promise.withResolvers()
  }

  /** Resolves to the sides with a statement to pass, once nothing goes on by itself. */
  async settle(describe: () => string): Promise<Which[]> {
    for (let looks = 0; !(await this.#isSettled()); looks++) {
      if (looks < STANDSTILL_LOOKS) continue
      const left = [...this.#waiting, ...this.#running].map(({ statement }) => statement.text)
      throw new Error(`standstill after\n${describe()}\nwith ${left.map(shorten).join('; ')}`)
    }
    return ([0, 1] as const).filter((side) => this.#waiting.some((held) => held.side === side))
  }

  /** Whether all calls wait for a statement to pass, or are answered. */
  async #isSettled(): Promise<boolean> {
    for (const held of this.#waiting) {
      if (WITHOUT_EFFECT.test(held.statement.text)) this.#pass(held)
    }
    if (this.#running.size > this.#blocked.size) {
      if (!(await this.#happened())) await this.#checkLocks()
      return false
    }
    const found = [...this.#waiting, ...this.#blocked].map(({ side }) => side)
    if ([...this.#unanswered].some((side) => !found.includes(side))) {
      await this.#happened()
      return false
    }
    if (this.#blocked.size === 0) return true
    // The last statement may have released a lock; the database ends a deadlock.
    const before = this.#events
    await this.#checkLocks()
    if (this.#waiting.length === 0) await this.#happened()
    // After an event, a call may be between two statements.
    const isQuiet = this.#events === before && this.#running.size === this.#blocked.size
    return isQuiet && this.#waiting.length > 0
  }

  #happened(): Promise<boolean> {
    return Promise.race([this.#next.promise.then(() => true), delay(LOCK_CHECK_MS, false)])
  }

  async #checkLocks(): Promise<void> {
    for (const held of this.#running) {
      if (!(await this.#isBlocked(held.statement.pid))) this.#blocked.delete(held)
      else if (this.#running.has(held)) this.#blocked.add(held)
    }
  }

  pass(side: Which): Step {
    const held = this.#waiting.find((one) => one.side === side)
    if (!held) throw new Error('This side has no statement to pass')
    const step = { side, text: held.statement.text, endsTransaction: false }
    this.#pass(held, step)
    return step
  }

  #pass(held: Held, step?: Step): void {
    this.#waiting = this.#waiting.filter((one) => one !== held)
    this.#running.add(held)
    void held.statement.pass().then((isOver) => {
      if (step) step.endsTransaction = isOver
      this.#running.delete(held)
      this.#blocked.delete(held)
      this.#wake()
    })
  }

  release(): void {
    for (const { postgres } of this.#sides) postgres.listen(undefined)
    for (const held of this.#waiting) this.#pass(held)
  }
}

export const namesOf = (steps: Step[]) =>
  steps.map(({ side, text }) => `${'AB'[side]}: ${shorten(text)}`).join('\n')

const shorten = (text: string) => text.replace(/\s+/g, ' ').trim().slice(0, 90)
