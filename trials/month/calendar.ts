import { setTimeout as delay } from 'node:timers/promises'
import { act } from './acts.ts'
import { DAY, HOUR } from './clock.ts'
import { type EventName, eventsOf, HAPPENINGS, happen, type Parts } from './events.ts'
import { moderate } from './moderating.ts'
import { banDomain, banScraper, erase } from './operating.ts'
import { comeBack, register } from './signing-in.ts'
import { scrape } from './strangers.ts'
import type { World } from './world.ts'

/** How many calls are in flight at once, and while something is killed. */
const AT_ONCE = 6
/** Days begin at 05:00. */
const FIRST_HOUR = 5
const MODERATED_HOURS = [4, 9, 14]
const SCRAPED_HOURS = [3, 15.5]

export type Size = { people: number; days: number; acts: number; events: EventName[] | 'all' }

type Entry = { at: number; run: () => Promise<unknown>; isEvent?: EventName }

/** What people, strangers, operator and machine do on each day, by the seed. */
export class Calendar {
  readonly #parts: Parts
  readonly #size: Size
  readonly #running = new Set<Promise<void>>()

  constructor(parts: Parts, size: Size) {
    this.#parts = parts
    this.#size = size
  }

  async live(day: number, start: number): Promise<void> {
    const { world, chance } = this.#parts
    const { clock } = world
    let lasting: Promise<void> = Promise.resolve()
    for (const { at, run, isEvent } of this.#entriesOf(day, start)) {
      await clock.until(at)
      if (!isEvent) {
        await this.#go(run)
        continue
      }
      await lasting
      const { isSudden, run: happening } = HAPPENINGS[isEvent]
      if (isSudden) {
        for (let call = 0; call < AT_ONCE; call++) void this.#go(() => this.#act())
        await delay(20 + chance.next() * 150)
        await happen(this.#parts, isEvent, happening)
      } else lasting = happen(this.#parts, isEvent, happening)
    }
    await Promise.all([...this.#running, lasting])
  }

  #entriesOf(day: number, start: number): Entry[] {
    const { world, chance } = this.#parts
    const at = (hour: number) => start + hour * HOUR
    const entries: Entry[] = [...this.#people(day, at), ...this.#others(day, at)]
    const names = this.#size.events === 'all' ? eventsOf(day, chance) : this.#size.events
    for (const isEvent of day === 0 ? [] : names) {
      const { hour } = HAPPENINGS[isEvent] as { hour?: number }
      entries.push({ at: at(hour ?? 3 + chance.next() * 13), isEvent, run: async () => {} })
    }
    for (const person of world.model.people) {
      if ((person.returnsAt ?? Number.POSITIVE_INFINITY) > world.clock.now() + DAY) continue
      entries.push({ at: at(3 + chance.next() * 14), run: () => comeBack(world, person) })
    }
    return entries.sort((one, other) => one.at - other.at)
  }

  #people(day: number, at: (hour: number) => number): Entry[] {
    const { world } = this.#parts
    const { people, days, acts } = this.#size
    const { chance, model } = world
    const first = Math.min(70, people / 4)
    const perDay = day === 0 ? first : Math.ceil((people - first) / days)
    const newcomers = Math.min(perDay, people - model.people.length)
    const entries: Entry[] = []
    for (let n = 0; n < newcomers; n++) {
      entries.push({ at: at(2 + chance.next() * 15), run: () => register(world) })
    }
    for (let n = 0; n < acts; n++) {
      entries.push({ at: at(hourOf(world)), run: () => this.#act() })
    }
    return entries
  }

  #others(day: number, at: (hour: number) => number): Entry[] {
    const { world } = this.#parts
    const entries = SCRAPED_HOURS.map((hour) => ({ at: at(hour), run: () => scrape(world) }))
    if (day === 0) return entries
    entries.push({ at: at(5), run: () => erase(world) })
    entries.push({ at: at(6), run: () => banDomain(world) })
    entries.push({ at: at(14.5), run: () => banScraper(world) })
    for (const hour of MODERATED_HOURS) entries.push({ at: at(hour), run: () => moderate(world) })
    return entries
  }

  #act(): Promise<void> {
    const { world } = this.#parts
    return act(world, world.chance.pick(world.model.active()))
  }

  /** Starts a call as soon as fewer than six are in flight. */
  async #go(run: () => Promise<unknown>): Promise<void> {
    const { world, pace } = this.#parts
    while (this.#running.size >= AT_ONCE) await Promise.race(this.#running)
    world.calls++
    pace.set()
    const running = run()
      .then(
        () => {},
        (error) => world.findings.add('the driver failed', { stack: String(error.stack) }),
      )
      .finally(() => {
        world.calls--
        this.#running.delete(running)
      })
    this.#running.add(running)
  }
}

/** Few people are awake at night, and most in the evening. */
function hourOf({ chance }: World): number {
  for (;;) {
    const hour = 1 + chance.next() * 20
    const ofDay = (hour + FIRST_HOUR) % 24
    const share = ofDay < 6 ? 0.05 : ofDay < 9 ? 0.5 : ofDay < 18 ? 0.7 : ofDay < 23 ? 1 : 0.2
    if (chance.isHit(share)) return hour
  }
}
