import { setTimeout as delay } from 'node:timers/promises'
import { areDependent, type Effects } from './effects.ts'
import type { HeldPostgres, Statement } from './held-postgres.ts'
import type { Answer } from './world.ts'

/** One of two calls that run at once, and the PostgreSQL of its node. */
export type Side = { postgres: HeldPostgres; call: () => Promise<Answer> }
export type Sides = [Side, Side]
type Which = 0 | 1

type Step = {
  side: Which
  text: string
  endsTransaction: boolean
  /** Undefined if unknown, as those of a failed statement. */
  effects: Effects | undefined
}
type Run = { answers: [Answer, Answer]; steps: Step[] }

type IsBlocked = (pid: number) => Promise<boolean>

/** The sides that pass the first statements; then the same side goes on while it can. */
type Plan = Which[]
/** `other` could have passed a statement too, after so many switches. */
type Choice = { other: Which | undefined; switchesToOther: number }

/** How long to wait for an event before the locks are checked. */
const LOCK_CHECK_MS = 10
/** A call that has not gone on after this many looks is at a standstill. */
const STANDSTILL_LOOKS = 5000

type Exploring = { isBlocked: IsBlocked; most: number; mayAffect?: typeof areDependent }

/**
 * Runs the two calls in at most so many orders of their statements, those with the fewest switches
 * first. A switch leaves a side that could go on. `begin` restores the state before each run.
 *
 * Of the orders that differ only in statements which cannot affect each other, one is run (dynamic
 * partial-order reduction, Flanagan and Godefroid 2005, with sleep sets). Chance can prevent a plan,
 * such as which of two calls a deadlock ends: such a run counts in its place.
 */
export async function inOrders(
  begin: () => Promise<Sides>,
  { isBlocked, most, mayAffect = areDependent }: Exploring,
  onRun: (run: Run) => Promise<void>,
): Promise<{ count: number; left: number }> {
  /** By their number of switches; some numbers have none. */
  const plans: (Plan[] | undefined)[] = [[[]]]
  const planned = new Set<string>()
  /** The step that was tried first after some steps, by their sides. */
  const firsts = new Map<string, Step>()
  for (let count = 0; ; count++) {
    const plan = plans.find((equals) => equals?.length)?.shift()
    const left = plans.flat().length
    if (!plan || count === most) return { count, left: plan ? left + 1 : 0 }
    const { choices, ...run } = await runOnce(await begin(), { plan, isBlocked })
    await onRun(run)
    const path = run.steps.map(({ side }) => side)
    for (const at of findTurns({ ...run, choices }, firsts, mayAffect)) {
      const { other, switchesToOther } = choices[at] as Choice
      const turned = [...path.slice(0, at), other as Which]
      if (planned.has(turned.join())) continue
      planned.add(turned.join())
      plans[switchesToOther] ??= []
      plans[switchesToOther]?.push(turned)
    }
  }
}

/** Returns the places of a run where the other side must be tried, because the result may differ. */
function findTurns(
  { steps, choices }: { steps: Step[]; choices: Choice[] },
  firsts: Map<string, Step>,
  mayAffect: typeof areDependent,
): Set<number> {
  const asleep = findAsleep(steps, firsts, mayAffect)
  const turns = new Set<number>()
  /** By side, the last step of the other that must come before what the side does next. */
  const known = [-1, -1]
  for (const [at, step] of steps.entries()) {
    const { side, effects } = step
    const between = steps.slice(0, at).map((earlier, place) => ({ ...earlier, place }))
    const races = between.filter(
      (earlier) =>
        earlier.place > (known[side] ?? -1) &&
        earlier.side !== side &&
        mayAffect(earlier.effects, effects),
    )
    known[side] = races.at(-1)?.place ?? known[side] ?? -1
    const turn = races.findLast(({ place }) => choices[place]?.other === side)?.place
    if (turn !== undefined && !asleep.has(turn)) turns.add(turn)
  }
  return turns
}

/**
 * Returns the places of a run where the other side need not be tried: it was tried first there, or
 * before a turn to this side, and nothing has happened since that affects its next statement.
 */
function findAsleep(
  steps: Step[],
  firsts: Map<string, Step>,
  mayAffect: typeof areDependent,
): Set<number> {
  const asleep = new Set<number>()
  let sleeping: Step | undefined
  let path = ''
  for (const [at, step] of steps.entries()) {
    const first = firsts.get(path) ?? step
    firsts.set(path, first)
    if (!sleeping && first.side !== step.side) sleeping = first
    if (sleeping) asleep.add(at)
    if (sleeping?.side === step.side) sleeping = undefined
    if (sleeping && mayAffect(sleeping.effects, step.effects)) sleeping = undefined
    path += step.side
  }
  return asleep
}

/** Runs one side whole, and the other whole between each two transactions of it or afterwards. */
export async function betweenTransactions(
  begin: () => Promise<Sides>,
  { isBlocked, stepwise }: { isBlocked: IsBlocked; stepwise: Which },
  onRun: (run: Run) => Promise<void>,
): Promise<void> {
  const first = await runOnce(await begin(), { plan: [stepwise], isBlocked })
  await onRun(first)
  const steps = first.steps.filter(({ side }) => side === stepwise)
  for (const [at, { endsTransaction }] of steps.entries()) {
    if (!endsTransaction || at === steps.length - 1) continue
    const plan: Plan = [...Array<Which>(at + 1).fill(stepwise), stepwise === 0 ? 1 : 0]
    await onRun(await runOnce(await begin(), { plan, isBlocked }))
  }
}

/** Runs one side up to the statement that authenticates its caller, the other whole, then the rest. */
export async function afterAuthentication(
  begin: () => Promise<Sides>,
  { isBlocked, caller }: { isBlocked: IsBlocked; caller: Which },
): Promise<Run> {
  return runOnce(await begin(), { plan: [caller, caller === 0 ? 1 : 0], isBlocked })
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
      choices.push({ other, switchesToOther: switches + (last === chosen ? 1 : 0) })
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
    const step = { side, text: held.statement.text, endsTransaction: false, effects: undefined }
    this.#pass(held, step)
    return step
  }

  #pass(held: Held, step?: Step): void {
    this.#waiting = this.#waiting.filter((one) => one !== held)
    this.#running.add(held)
    void held.statement.passObserved().then(({ isOver, effects }) => {
      if (step) Object.assign(step, { endsTransaction: isOver, effects })
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
