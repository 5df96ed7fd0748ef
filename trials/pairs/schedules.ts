import type { HeldPostgres, Statement } from './held-postgres.ts'

/** One of two calls that run at once, and the proxy of its node. */
export type Side<Answer> = { postgres: HeldPostgres; call: () => Promise<Answer> }

export type Sides<Answer> = [Side<Answer>, Side<Answer>]

/** A moment at which one or both calls could go on, and the choice between them. */
type Choice = {
  chosen: number
  /** The lane of the statement before. */
  last: number | undefined
  /** The text of the next statement of each lane that has one. */
  next: (string | undefined)[]
  /** How often a side that could go on was left for the other, before this choice. */
  switches: number
  /** Sides whose statement here would only repeat orders that were run. */
  asleep: Set<number>
  tried: Set<number>
}

type Step = { side: number; text: string; endsTransaction: boolean }
export type Run<Answer> = { answers: [Answer, Answer]; steps: Step[] }
/** `switches`: the limit on switches, if there was one. */
export type Orders = { count: number; switches: number | undefined }

type Options = {
  isBlocked: (pid: number) => Promise<boolean>
  /** About how many orders to run. */
  most: number
}

/** How long a statement may take before its locks are checked. */
const LOCK_CHECK_MS = 3
/** After this long without an event, a call on a shared node waits for a statement of the other. */
const QUIET_MS = 15
/** A pair runs in all its orders if they are at most this many times `most`. */
const ALL_ORDERS_FACTOR = 3
/** The first limit for a pair that turns out to have more orders than its first run shows. */
const FEW_SWITCHES = 2
/** How often in a row a run that differs from its plan is repeated, before the pair starts over. */
const REPEATS_MAX = 2
/** How often a pair starts over. */
const RESTARTS_MAX = 2
/** A call that has not gone on after this many looks is at a standstill. */
const STANDSTILL_LOOKS = 5000

/**
 * Statements that pass at once, because their place makes no difference: they neither change nor
 * lock rows that other statements use. Those of the limits are transactions by themselves.
 */
const WITHOUT_EFFECT =
  /^\s*(begin|start transaction|select pg_notify)|\brate_limits\b|clock_timestamp\(\)\) \* 1000/i
const CHANGES =
  /\b(insert|update|delete|for (no key )?update|for (key )?share|nextval|add_job|commit|rollback|advisory|reschedule)/i

const isRead = (text: string | undefined) => text !== undefined && !CHANGES.test(text)

/**
 * Runs the two calls in every order of their statements, without the orders that only swap two
 * reads (sleep sets). A statement that waits for a lock of the other side is left waiting. If there
 * are too many orders, it runs only those with few switches, which leave a side that could go on.
 * Yields each run; `begin` restores the state before each.
 *
 * A run repeats the beginning of an earlier one. Chance can prevent that: for example, which of two
 * calls a deadlock ends. Then the run is repeated, and after some repeats the pair starts over. On
 * one node, microseconds decide which call waits for which, and has which connection: after several
 * attempts the run counts in place of the planned order.
 */
export async function* allOrders<Answer>(
  begin: () => Promise<Sides<Answer>>,
  { isBlocked, most }: Options,
): AsyncGenerator<Run<Answer>, Orders> {
  let path: Choice[] = []
  let switches: number | undefined
  let isBegun = false
  let atLimit = 0
  let repeats = 0
  let restarts = 0
  for (let count = 1; ; count++) {
    const isWhole = switches === undefined
    const run = await runOnce(await begin(), { prefix: path, isBlocked, isWhole })
    yield run
    if (run.difference !== undefined && ++repeats <= REPEATS_MAX) continue
    if (run.difference !== undefined && !run.isShared) {
      if (++restarts > RESTARTS_MAX) throw new Error(`runs are not repeatable: ${run.difference}`)
      // The earlier run may have been the exception.
      repeats = 0
      atLimit = 0
      path = []
      continue
    }
    repeats = 0
    const areTooMany = isBegun && ++atLimit > most * ALL_ORDERS_FACTOR
    const limit = isBegun ? lowered(switches, areTooMany) : switchesOf(run.path, most)
    isBegun = true
    path = run.path
    if (limit !== switches) {
      // Starts over, because sleep sets are valid only if all orders are run.
      switches = limit
      atLimit = 0
      path = []
    } else if (!turn(path, switches ?? Number.POSITIVE_INFINITY)) return { count, switches }
  }
}

/** Lowers the limit if other orders have more statements than the first. */
function lowered(switches: number | undefined, areTooMany: boolean): number | undefined {
  if (!areTooMany) return switches
  return Math.max(1, (switches ?? FEW_SWITCHES + 1) - 1)
}

/**
 * Runs one side whole after each transaction of the other, which works in steps. Yields each run.
 */
export async function* betweenTransactions<Answer>(
  begin: () => Promise<Sides<Answer>>,
  { isBlocked, stepwise }: Pick<Options, 'isBlocked'> & { stepwise: 0 | 1 },
): AsyncGenerator<Run<Answer>> {
  let length = 0
  for (let before = 1; before === 1 || before <= length; before++) {
    const chosen = [...Array<number>(before).fill(stepwise), 1 - stepwise]
    const prefix = chosen.map((side) => ({ chosen: side, tried: new Set<number>() }))
    const run = await runOnce(await begin(), { prefix, isBlocked, isWhole: true })
    length = run.steps.filter(({ side }) => side === stepwise).length
    const { side, endsTransaction } = run.steps[before - 1] ?? {}
    if (side === stepwise && endsTransaction) yield run
  }
}

/** Goes back to the last choice with something left to try, and tries it. */
function turn(path: Choice[], mostSwitches: number): boolean {
  for (let last = path.at(-1); last; path.pop(), last = path.at(-1)) {
    const { next, tried, asleep } = last
    const choice = last
    const other = next.findIndex(
      (text, side) =>
        text !== undefined &&
        !tried.has(side) &&
        !asleep.has(side) &&
        choice.switches + (isSwitch(choice, side) ? 1 : 0) <= mostSwitches,
    )
    if (other < 0) continue
    last.chosen = other
    tried.add(other)
    return true
  }
  return false
}

function isSwitch({ last, next }: Pick<Choice, 'last' | 'next'>, side: number): boolean {
  return last !== undefined && last !== side && next[last] !== undefined
}

/** Returns how many switches lead to at most `most` orders; undefined if all orders are few. */
function switchesOf(path: Choice[], most: number): number | undefined {
  const [a = 0, b = 0] = [0, 1].map((lane) => path.filter(({ chosen }) => chosen === lane).length)
  if (choose(a + b, a) <= most * ALL_ORDERS_FACTOR) return undefined
  // The two serial orders have no switch.
  let count = 2
  for (let switches = 1; ; switches++) {
    const [more, fewer] = [Math.ceil(switches / 2), Math.floor(switches / 2)]
    count += choose(a - 1, more) * choose(b - 1, fewer) + choose(a - 1, fewer) * choose(b - 1, more)
    if (count > most) return switches - 1
  }
}

function choose(n: number, k: number): number {
  let result = 1
  for (let i = 1; i <= k; i++) result = (result * (n - k + i)) / i
  return Math.max(0, result)
}

/** `next` is unknown if it was not run before. */
type Planned = Pick<Choice, 'chosen' | 'tried'> & Partial<Choice>
type RunOptions = Pick<Options, 'isBlocked'> & { prefix: Planned[]; isWhole: boolean }

async function runOnce<Answer>(sides: Sides<Answer>, { prefix, isBlocked, isWhole }: RunOptions) {
  const isShared = sides[0].postgres === sides[1].postgres
  const play = startPlay(sides, { isBlocked, isShared })
  const path: Choice[] = []
  const steps: Step[] = []
  let asleep = new Set<number>()
  let last: number | undefined
  let switches = 0
  let difference: string | undefined
  try {
    while (await play.settle(() => namesOf(steps))) {
      const next = play.next()
      const planned = prefix[path.length]
      if (planned?.next) difference ??= differenceOf(planned.next, next)
      const isPossible = planned && next[planned.chosen] !== undefined
      // Goes on with the same lane if it can.
      const ready = [...(last === undefined ? [] : [last]), ...next.keys()].filter(
        (lane) => next[lane] !== undefined,
      )
      const chosen = isPossible
        ? planned.chosen
        : (ready.find((lane) => !asleep.has(lane)) ?? (ready[0] as number))
      const tried = isPossible ? planned.tried : new Set([chosen])
      const choice: Choice = { chosen, last, next, switches, asleep, tried }
      path.push(choice)
      if (isSwitch(choice, chosen)) switches++
      last = chosen
      const text = next[chosen] as string
      const passedOver = isWhole ? [...tried, ...asleep].filter((lane) => lane !== chosen) : []
      asleep = new Set(passedOver.filter((lane) => isRead(next[lane]) && isRead(text)))
      const step: Step = { side: chosen, text, endsTransaction: false }
      steps.push(step)
      play.pass(chosen, step)
    }
    if (path.length < prefix.length) difference ??= 'calls ended early'
    return { answers: await play.answers, steps, path, difference, isShared }
  } finally {
    play.release()
  }
}

function differenceOf(planned: Choice['next'], next: Choice['next']): string | undefined {
  if (JSON.stringify(planned) === JSON.stringify(next)) return undefined
  const [wanted, found] = [planned, next].map((texts) =>
    texts.map((text) => shorten(text ?? 'nothing')).join(' | '),
  )
  return `«${found}» instead of «${wanted}»`
}

type Held = { lane: number; statement: Statement }

/**
 * Starts both calls. Each statement belongs to a lane: that of its call or, if both run on one
 * node, that of its connection, because the call is unknown there.
 */
function startPlay<Answer>(
  sides: Sides<Answer>,
  { isBlocked, isShared }: Pick<Options, 'isBlocked'> & { isShared: boolean },
) {
  let waiting: Held[] = []
  const running = new Set<Held>()
  const blocked = new Set<Held>()
  const unanswered = new Set([0, 1])
  const lanesByPid = new Map<number, number>()
  let signal = Promise.withResolvers<void>()
  let events = 0
  function note(): void {
    events++
    signal.resolve()
    signal = Promise.withResolvers()
  }

  function laneOf({ pid }: Statement): number {
    const lane = lanesByPid.get(pid) ?? lanesByPid.size
    lanesByPid.set(pid, lane)
    return lane
  }
  const calls = sides.map(({ postgres, call }, side) => {
    if (!isShared || side === 0) {
      postgres.listen((statement) => {
        waiting.push({ lane: isShared ? laneOf(statement) : side, statement })
        note()
      })
    }
    return call().finally(() => {
      unanswered.delete(side)
      note()
    })
  })
  const answers = Promise.all(calls) as unknown as Promise<[Answer, Answer]>
  answers.catch(() => {})

  function pass(lane: number, step?: Step): void {
    const held = waiting.find((one) => one.lane === lane)
    if (!held) return
    waiting = waiting.filter((one) => one !== held)
    running.add(held)
    void held.statement.pass().then((isOver) => {
      if (step) step.endsTransaction = isOver
      running.delete(held)
      blocked.delete(held)
      note()
    })
  }

  function passWithoutEffect(): void {
    for (const { lane, statement } of waiting) {
      if (WITHOUT_EFFECT.test(statement.text)) pass(lane)
    }
  }

  /** Waits for an event, for `ms` at most. Resolves to whether there was one. */
  async function happened(ms = LOCK_CHECK_MS): Promise<boolean> {
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, ms)
    const isEvent = await Promise.race([late.then(() => false), signal.promise.then(() => true)])
    clearTimeout(timer)
    return isEvent
  }

  async function checkLocks(): Promise<void> {
    for (const held of running) {
      if (!(await isBlocked(held.statement.pid))) blocked.delete(held)
      else if (running.has(held)) blocked.add(held)
    }
  }

  /** Whether each call that is not answered has a statement here. */
  function areFound(): boolean {
    const lanes = new Set([...waiting, ...blocked].map(({ lane }) => lane))
    if (isShared) return lanes.size >= unanswered.size
    return [...unanswered].every((side) => lanes.has(side))
  }

  /** Whether all calls wait for a statement to pass, or are answered. */
  async function isSettled(): Promise<boolean> {
    passWithoutEffect()
    if (running.size > blocked.size) {
      if (!(await happened())) await checkLocks()
      return false
    }
    // Of two calls on one node, one may wait for a statement of the other.
    if (!areFound()) {
      const isQuiet = !(await happened(QUIET_MS))
      if (!isQuiet || !isShared || waiting.length + blocked.size === 0) return false
    }
    if (blocked.size === 0) return true
    // The last statement may have released a lock; the database ends a deadlock.
    const before = events
    await checkLocks()
    if (waiting.length === 0) await happened()
    // After an event, a call may be between two statements.
    return events === before && waiting.length > 0 && running.size === blocked.size
  }

  return {
    answers,
    pass,

    /** Resolves to whether there is a statement to pass, once nothing goes on by itself. */
    async settle(describe: () => string): Promise<boolean> {
      for (let looks = 0; !(await isSettled()); looks++) {
        if (looks < STANDSTILL_LOOKS) continue
        const left = [...waiting, ...running].map(({ statement }) => shorten(statement.text))
        throw new Error(`standstill after\n${describe()}\nwith ${left.join('; ')}`)
      }
      return waiting.length > 0
    },

    next(): (string | undefined)[] {
      const texts: (string | undefined)[] = []
      for (const { lane, statement } of waiting) texts[lane] ??= statement.text
      return Array.from(texts)
    },

    release(): void {
      for (const { postgres } of sides) postgres.listen(undefined)
      for (const { lane } of waiting) pass(lane)
    },
  }
}

export const namesOf = (steps: Step[]) =>
  steps.map(({ side, text }) => `${'AB'[side] ?? side}: ${shorten(text)}`).join('\n')

const shorten = (text: string) => text.replace(/\s+/g, ' ').trim().slice(0, 90)
