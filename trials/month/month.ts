/**
 * A month of the product in half an hour. `SEED=7 DAYS=3 npm run test:month` replays the people and
 * events of one seed, but not how concurrent calls interleave. Exits with 1 after a difference,
 * whose line has the seed, the day and the time.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../server/testing/process/free-port.ts'
import { Calendar, type Size } from './calendar.ts'
import { Chance } from './chance.ts'
import { Clock, DAY, HOUR } from './clock.ts'
import { Disks } from './disks.ts'
import { type EventName, happen, type Parts } from './events.ts'
import { Findings } from './findings.ts'
import { Judge } from './judge.ts'
import { backupsOf, dateBackups, timeOfBackup } from './judge-machine.ts'
import { MODERATOR } from './judge-mails.ts'
import { Model } from './model.ts'
import { appointModerators } from './operating.ts'
import { Pace } from './pace.ts'
import { Relay } from './relay.ts'
import { refresh } from './signing-in.ts'
import { type Due, Wall } from './wall.ts'
import { World } from './world.ts'

const FIRST_MORNING = Date.parse('2026-12-01T05:00:00Z')
/** Few, so that a short run prunes too. */
const KEEP = 2
/** 04:12, after the backup of 03:30. */
const JUDGED_HOUR = 23.2
const JUDGE_RATE = 20
const RESTORE_RATE = 10
/** Nobody acts after this hour, so that the night's backup has what the judge sees. */
const QUIET_HOUR = 22
/** On which mornings a backup is restored: the newest, or the one before. */
const RESTORES = new Map([
  [2, -2],
  [9, -1],
  [16, -2],
])
/**
 * After a long month the machine is off for so many days each time: a session in use lives for 90
 * days, what is kept for 180 days goes, and so does the list of deletions after a year.
 */
const LEAPS = [25, 25, 14, 4, 60, 60, 190]
const LONG_MONTH = 14
/** By the seed the month begins with an empty wall, or with an upgrade of a release. */
const UPGRADED = [undefined, '1.0.0']
const RELEASES = join(import.meta.dirname, '../../server/operations/backup/releases')
const AFTER_LEAP_HOURS = 3
const DATING_MS = 100

type Settings = { seed: number; size: Size; leaps: number[]; folder: string }

function readSettings(): Settings {
  const { SEED, DAYS = '24', PEOPLE = '300', ACTS = '300', EVENTS = 'all', OUT, LEAP } = process.env
  const seed = Number(SEED ?? Date.now() % 1_000_000)
  const events = EVENTS === 'all' ? EVENTS : (EVENTS.split(',').filter(Boolean) as EventName[])
  const days = Number(DAYS)
  const leaps = LEAP === undefined ? (days < LONG_MONTH ? [] : LEAPS) : LEAP.split(',').map(Number)
  const size: Size = { people: Number(PEOPLE), days, acts: Number(ACTS), events }
  return { seed, size, leaps, folder: OUT ?? join(tmpdir(), `vslukh-month-${seed}`) }
}

/** Returns what this machine lacks. */
function whatIsMissing(): string | undefined {
  const why = 'This trial drives the wall clock of processes: it needs Linux and a C compiler (cc).'
  if (process.platform !== 'linux') return why
  const hasCompiler = spawnSync('cc', ['--version'], { stdio: 'ignore' }).status === 0
  return hasCompiler ? undefined : `${why} On Debian: apt-get install gcc libc6-dev`
}

/** One run: the wall, its people, and the judge. */
class Month {
  readonly #settings: Settings
  readonly #parts: Parts
  readonly #world: World
  readonly #calendar: Calendar
  readonly #judge: Judge
  readonly #copies = new Map<string, ReturnType<Model['copy']>>()
  readonly #began = performance.now()
  readonly #stopping = new AbortController()
  #day = 0

  private constructor(settings: Settings, parts: Parts, judge: Judge) {
    this.#settings = settings
    this.#parts = parts
    this.#world = parts.world
    this.#calendar = new Calendar(parts, settings.size)
    this.#judge = judge
  }

  static async prepare(settings: Settings): Promise<Month> {
    const { seed, folder } = settings
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    const disks = new Disks()
    const clock = new Clock(`/dev/shm/vslukh-month-${process.pid}`, FIRST_MORNING)
    const relay = new Relay(clock, new Chance(seed + 5))
    await relay.open()
    const env = {
      ...{ SMTP_URL: `smtp://127.0.0.1:${relay.port}`, MAIL_FROM: 'wall@example.org' },
      ...{ RATE_LIMIT_SCALE: '1', BACKUP_KEEP: String(KEEP), MODERATOR_EMAIL: MODERATOR },
      // What half of the runs set, the other half leaves unset.
      ...(seed % 2 === 1 && { ACCESS_JOURNAL_DAYS: '1' }),
    }
    const ports = { port: await freePort(), metricsPort: await freePort() }
    const wall = new Wall({ folder, clock, env, ...ports })
    // After a restore it holds the former database too, and a verification a third one.
    disks.add(wall.data, 2000)
    disks.add(wall.backups, 60)
    const when = () => ({ day: month.#day, time: clock.label() })
    const findings = new Findings({ seed, folder, when })
    const chance = new Chance(seed)
    const world = new World({ clock, wall, relay, model: new Model(), findings, chance })
    const parts = { world, pace: new Pace(world), disks, chance: new Chance(seed * 7919 + 1) }
    const month = new Month(settings, parts, new Judge(world, KEEP))
    return month
  }

  async run(): Promise<number> {
    const { seed, size, leaps, folder } = this.#settings
    const { wall, clock, findings } = this.#world
    const { pace } = this.#parts
    findings.say(`seed ${seed}, ${size.days} days, ${size.people} people, files in ${folder}`)
    const dating = setInterval(() => dateBackups(this.#world), DATING_MS)
    void wall.watchJobs((due) => this.#setPace(due), this.#stopping.signal)
    try {
      await this.#upgrade(UPGRADED[seed % UPGRADED.length])
      findings.say(`first start in ${await wall.start()} ms`)
      const history = await wall.query<{ id: string }>('SELECT id::text FROM posts')
      this.#world.model.history = new Set(history.map(({ id }) => id))
      const start = clock.steady()
      for (; this.#day < size.days; this.#day++) {
        await this.#liveDay(Math.max(start + this.#day * DAY, clock.steady() - 2 * HOUR))
      }
      for (const days of leaps) {
        await this.#leap(days)
        this.#day++
      }
    } catch (error) {
      findings.add('the driver failed', { stack: (error as Error).stack })
    } finally {
      clearInterval(dating)
      pace.held = RESTORE_RATE
      await this.close()
    }
    return findings.count
  }

  #setPace(due: Due): void {
    this.#parts.pace.due = due
    this.#parts.pace.set()
  }

  /** Lets the first start find the wall of a former release. */
  async #upgrade(release: string | undefined): Promise<void> {
    const { wall, findings } = this.#world
    if (release === undefined) return
    const file = join(RELEASES, `${release}.fixture.backup`)
    const { code, out, err } = await wall.command('restore', file, '--yes')
    if (code !== 0) findings.add(`the wall of ${release} was not restored`, { out, err })
    findings.say(`the wall of release ${release} is upgraded`)
  }

  async #liveDay(start: number): Promise<void> {
    const { clock, model } = this.#world
    const { pace } = this.#parts
    const which = RESTORES.get(this.#day)
    if (which !== undefined && this.#settings.size.events === 'all') await this.#restore(which)
    if (this.#day > 0 && model.moderators.length === 0)
      await pace.holding(RESTORE_RATE, () => appointModerators(this.#world))
    await this.#calendar.live(this.#day, start)
    await clock.until(start + JUDGED_HOUR * HOUR)
    await this.#judgeDay(start)
    await clock.until(start + DAY)
  }

  async #judgeDay(start: number): Promise<void> {
    const world = this.#world
    const { clock, events, findings, model } = world
    const { pace } = this.#parts
    dateBackups(world)
    const mustHave = !events.some((name) => /full/.test(name))
    const result = await pace.holding(JUDGE_RATE, () => this.#judge.judge(mustHave))
    const steadyNight = start + QUIET_HOUR * HOUR
    const night = steadyNight + clock.now() - clock.steady()
    for (const name of backupsOf(world)) {
      if (timeOfBackup(name) > night && !this.#copies.has(name))
        this.#copies.set(name, model.copy())
    }
    const refused = [...world.tally].filter(([key]) => / (0|5\d\d|429)$/.test(key))
    const seconds = Math.round((performance.now() - this.#began) / 1000)
    const spent = [...pace.spent].map(([mode, ms]) => [mode, Math.round(ms / 1000)])
    pace.spent.clear()
    const facts = {
      people: model.members().length,
      ...result,
      refused: Object.fromEntries(refused),
      seconds: Object.fromEntries(spent),
    }
    findings.say(`day ${this.#day}, ${clock.label()}, after ${seconds} s: ${JSON.stringify(facts)}`)
    world.tally.clear()
    world.events = []
  }

  /** Restores a backup, after which the model is that of its night but for deletions since. */
  async #restore(which: number): Promise<void> {
    const { wall, model, findings } = this.#world
    const { pace } = this.#parts
    const name = backupsOf(this.#world)
      .filter((one) => this.#copies.has(one))
      .at(which)
    const copy = this.#copies.get(name ?? '')
    if (!name || !copy) return findings.say('  no backup to restore')
    await happen(this.#parts, `restore of ${name}`, () =>
      pace.holding(RESTORE_RATE, async () => {
        await wall.end('SIGTERM')
        const path = join(wall.backups, name)
        let isRestored = true
        for (const args of [
          ['verify', path],
          ['restore', path, '--replace', '--yes'],
        ]) {
          const { code, out, err } = await wall.command(...args)
          isRestored &&= code === 0
          if (code !== 0) findings.add(`${args[0]} of a backup failed`, { out, err })
        }
        if (isRestored) model.restore(copy)
        return `up in ${await wall.start()} ms`
      }),
    )
  }

  /** The machine is off for days. Then every other person comes back, and what must be gone goes. */
  async #leap(days: number): Promise<void> {
    const world = this.#world
    const { wall, clock, model } = world
    const { pace } = this.#parts
    for (const person of model.people) person.returnsAt = undefined
    await happen(this.#parts, `off for ${days} days`, async () => {
      await wall.end('SIGTERM')
      clock.leap(days * DAY)
      return `up in ${await pace.holding(RESTORE_RATE, () => wall.start())} ms`
    })
    const start = clock.steady()
    for (const person of model.members().filter(({ n }) => n % 2 === 0)) {
      for (const device of person.devices) await refresh(world, person, device)
    }
    world.slackHours = 1.2
    await clock.until(start + AFTER_LEAP_HOURS * HOUR)
    await this.#judgeDay(start)
  }

  /** Ends everything that runs. */
  async close(): Promise<void> {
    this.#stopping.abort()
    const { wall, relay, clock } = this.#world
    const { pace, disks } = this.#parts
    await wall.close()
    await relay.close()
    pace.stop()
    disks.remove()
    clock.close()
  }
}

const missing = whatIsMissing()
if (missing) {
  console.error(missing)
  process.exit(1)
}
const settings = readSettings()
const month = await Month.prepare(settings)
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(name, () => void month.close().finally(() => process.exit(1)))
}
const count = await month.run()
console.log(`seed ${settings.seed}: ${count === 0 ? 'no difference' : `${count} differences`}`)
process.exit(count === 0 ? 0 : 1)
