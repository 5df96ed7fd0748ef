import type { Chance } from './chance.ts'
import { HOUR, MINUTE } from './clock.ts'
import type { Disks } from './disks.ts'
import type { Pace } from './pace.ts'
import type { Mood } from './relay.ts'
import type { World } from './world.ts'

const STOP_MS = 10_500
const RECOVER_MS = 40_000
const START_RATE = 5
/** How long a full disk or a wrong clock lasts. */
const SPELL = 20 * MINUTE

export type Parts = { world: World; pace: Pace; disks: Disks; chance: Chance }

type Happening = {
  /** Whether it happens at once while calls are in flight; otherwise people act meanwhile. */
  isSudden: boolean
  /** Its hour of the day; by default any. */
  hour?: number
  /** Returns how it ended. */
  run: (parts: Parts) => Promise<string>
}

const lasting = (run: Happening['run'], hour?: number): Happening => ({
  isSudden: false,
  ...(hour !== undefined && { hour }),
  run,
})
const sudden = (run: Happening['run']): Happening => ({ isSudden: true, run })

export const HAPPENINGS = {
  'server SIGKILL': sudden((parts) => restart(parts, 'SIGKILL')),
  'server SIGTERM': sudden((parts) => restart(parts, 'SIGTERM')),
  'PostgreSQL SIGKILL': sudden(killDatabase),
  'server and PostgreSQL SIGKILL': sudden(async (parts) => {
    await parts.world.wall.end('SIGKILL')
    parts.world.wall.killDatabase()
    return `up in ${await start(parts)} ms`
  }),
  'mail server down': lasting(async ({ world: { relay, clock }, chance }) => {
    await relay.close()
    const hours = 1 + chance.next() * 4
    await clock.pass(hours * HOUR)
    await relay.open()
    return `${hours.toFixed(1)} h`
  }),
  'mail server greylists': lasting((parts) => withMood(parts, 'greylisting', 5)),
  'mail server refuses': lasting((parts) => withMood(parts, 'refusing', 2)),
  'mail server loses answers': lasting((parts) => withMood(parts, 'deaf', 3)),
  'disk of DATA_DIR full': lasting(fillData),
  'disk of BACKUP_DIR full': lasting(fillBackups, 21.9),
  'clock 3 h ahead': lasting((parts) => jump(parts, 3)),
  'clock 2 h behind': lasting((parts) => jump(parts, -2)),
} satisfies Record<string, Happening>

export type EventName = keyof typeof HAPPENINGS

/** By day. Later days have random events. */
const PLAN: EventName[][] = [
  [],
  ['server SIGKILL', 'mail server down', 'clock 3 h ahead'],
  ['server and PostgreSQL SIGKILL', 'mail server loses answers', 'disk of DATA_DIR full'],
  ['PostgreSQL SIGKILL', 'mail server greylists'],
  ['server SIGTERM', 'mail server refuses'],
  ['server SIGKILL', 'clock 2 h behind'],
  ['server SIGKILL', 'server SIGKILL', 'disk of BACKUP_DIR full'],
]
const RANDOM_SHARE = 0.12

export function eventsOf(day: number, chance: Chance): EventName[] {
  const names = Object.keys(HAPPENINGS) as EventName[]
  return PLAN[day] ?? names.filter(() => chance.isHit(RANDOM_SHARE))
}

/** Runs an event, and notes while something was broken. */
export async function happen(parts: Parts, name: string, run: Happening['run']): Promise<void> {
  const { clock, wounds, events, findings } = parts.world
  const wound = { name, from: clock.steady(), to: Number.POSITIVE_INFINITY }
  wounds.push(wound)
  events.push(name)
  const began = clock.label()
  try {
    findings.say(`  ${began} ${name}: ${await run(parts)}`)
  } catch (error) {
    findings.add(`${name}: the wall did not survive it`, { error: String(error).slice(0, 600) })
  }
  wound.to = clock.steady()
}

const start = ({ world: { wall }, pace }: Parts) => pace.holding(START_RATE, () => wall.start())

async function restart(parts: Parts, signal: NodeJS.Signals): Promise<string> {
  const ms = await parts.world.wall.end(signal)
  if (signal === 'SIGTERM' && ms > STOP_MS) parts.world.findings.add(`SIGTERM took ${ms} ms`)
  return `down in ${ms} ms, up in ${await start(parts)} ms`
}

async function killDatabase({ world: { wall, findings }, pace }: Parts): Promise<string> {
  return pace.holding(START_RATE, async () => {
    wall.killDatabase()
    const isAway = async () => !(await wall.isReady())
    for (let time = 0; time < 20 && !(await isAway()); time++);
    const ms = await wall.recover(RECOVER_MS)
    if (ms === undefined) findings.add('PostgreSQL did not come back')
    return `ready again after ${ms} ms`
  })
}

async function withMood({ world: { relay, clock } }: Parts, mood: Mood, hours: number) {
  const before = relay.lostAnswers
  relay.mood = mood
  await clock.pass(hours * HOUR)
  relay.mood = 'well'
  return `${hours} h, ${relay.lostAnswers - before} answers lost`
}

async function fillData({ world: { wall, clock, findings }, pace, disks }: Parts): Promise<string> {
  if (!disks.has(wall.data)) return 'left out: only root can mount a disk'
  pace.isStorm = true
  const free = await disks.fill(wall.data)
  await clock.pass(SPELL)
  const status = await wall.readiness()
  free()
  const ms = await wall.recover(RECOVER_MS)
  pace.isStorm = false
  if (ms === undefined) findings.add('the wall is not ready although the disk was freed')
  return `/readyz ${status}, ready ${ms} ms after it was freed`
}

async function fillBackups({ world: { wall, clock }, disks }: Parts): Promise<string> {
  if (!disks.has(wall.backups)) return 'left out: only root can mount a disk'
  const free = await disks.fill(wall.backups)
  // Until 04:00, after the backup of 03:30.
  await clock.pass(1.1 * HOUR)
  free()
  return 'freed'
}

async function jump({ world, pace }: Parts, hours: number): Promise<string> {
  const { clock } = world
  pace.isStorm = true
  clock.jump(hours * HOUR)
  await clock.pass(SPELL)
  clock.jump(0)
  pace.isStorm = false
  world.jumpedUntil = clock.now() + Math.max(0, hours) * HOUR
  return `for ${SPELL / MINUTE} minutes`
}
