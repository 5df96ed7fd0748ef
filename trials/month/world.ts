import { setTimeout as delay } from 'node:timers/promises'
import type { Chance } from './chance.ts'
import type { Clock } from './clock.ts'
import { type Answer, callBy, type Device, isUnsure } from './device.ts'
import type { Findings } from './findings.ts'
import type { Model, Person } from './model.ts'
import type { Relay } from './relay.ts'
import type { Wall } from './wall.ts'

/** A time in which something is broken, so that neither mails nor limits are judged by the minute. */
type Wound = { name: string; from: number; to: number }

const AROUND_MS = 30 * 60_000
const REPEAT_MS = 120

/** Everything that acts, events and the judge share. */
export class World {
  readonly clock: Clock
  readonly wall: Wall
  readonly relay: Relay
  readonly model: Model
  readonly findings: Findings
  /** Decides who does what. */
  readonly chance: Chance
  readonly wounds: Wound[] = []
  /** Until when the wall clock's last jump can be seen in rows. */
  jumpedUntil = 0
  /** How many calls are in flight, and in how many somebody waits for a code. */
  calls = 0
  waiting = 0
  /** How often each call had each status today. */
  tally = new Map<string, number>()
  /** What happened today. */
  events: string[] = []
  /** How long after its time something may still be there: the pruning runs hourly. */
  slackHours = 3

  constructor(parts: Pick<World, 'clock' | 'wall' | 'relay' | 'model' | 'findings' | 'chance'>) {
    ;({
      clock: this.clock,
      wall: this.wall,
      relay: this.relay,
      model: this.model,
      findings: this.findings,
      chance: this.chance,
    } = parts)
  }

  /** Whether nothing was broken between two times. */
  wasWell(from: number, to = from): boolean {
    return !this.wounds.some((wound) => from < wound.to + AROUND_MS && to > wound.from - AROUND_MS)
  }

  /** Calls the API, and counts the answer. A refusal by a limit of an honest person is a finding. */
  async call(
    person: Person | undefined,
    device: Device,
    what: string,
    [method, path, sent]: [method: string, path: string, sent?: Parameters<typeof callBy>[4]],
  ): Promise<Answer> {
    const answer = await callBy(this.wall, device, method, path, sent)
    this.count(what, answer.status)
    if (answer.status === 429 && person && !person.isSpammer && this.wasWell(this.clock.steady())) {
      this.findings.add(`an honest person met a limit: ${what}`, { message: answer.body.message })
    }
    return answer
  }

  /** Repeats a call that has no answer, or a 5xx, as the web app does. */
  async callFirmly(...args: Parameters<World['call']>): Promise<Answer> {
    let answer = await this.call(...args)
    for (let time = 1; time < 4 && isUnsure(answer); time++) {
      await delay(REPEAT_MS * time)
      answer = await this.call(...args)
    }
    return answer
  }

  count(what: string, status: number | string): void {
    const key = `${what} ${status}`
    this.tally.set(key, (this.tally.get(key) ?? 0) + 1)
  }
}
