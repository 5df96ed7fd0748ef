import { DAY, HOUR } from './clock.ts'
import { MAIL_DOMAINS } from './signing-in.ts'
import { SCRAPER } from './strangers.ts'
import type { World } from './world.ts'

const MODERATORS = 2
const BAN_DAYS = 1
const BAN_HOURS = 6

async function command(world: World, ...args: string[]): Promise<boolean> {
  const { code, out, err } = await world.wall.command(...args)
  if (code !== 0)
    world.findings.add(`a command failed: ${args.slice(0, 2).join(' ')}`, { out, err })
  return code === 0
}

export async function appointModerators(world: World): Promise<void> {
  const { model } = world
  for (const { n, email } of model.members().slice(0, MODERATORS)) {
    if (await command(world, 'moderator', 'add', email, '--yes')) model.moderators.push(n)
  }
}

/** Erases an account at once, as a person may demand who cannot sign in. */
export async function erase(world: World): Promise<void> {
  const { model, chance, clock } = world
  const person = chance.pick(
    model.members().filter(({ n, isUnsure, posts }) => {
      return !model.moderators.includes(n) && !isUnsure && posts.length > 0
    }),
  )
  if (!person?.name) return
  person.deletedAt = clock.now()
  for (const device of person.devices) device.closedBecause = 'erased by the operator'
  if (await command(world, 'user', person.name, 'erase', '--yes')) person.isErased = true
  else person.isUnsure = true
}

export async function banDomain(world: World): Promise<void> {
  const { model, chance, clock } = world
  const value = `mail${chance.below(MAIL_DOMAINS)}.example`
  const until = clock.now() + BAN_DAYS * DAY
  const isDone = await command(
    world,
    'ban',
    'add',
    'domain',
    value,
    '--days',
    `${BAN_DAYS}`,
    '--yes',
  )
  if (isDone) model.bans.push({ kind: 'domain', value, until })
}

export async function banScraper(world: World): Promise<void> {
  const { model, clock } = world
  const until = clock.now() + BAN_HOURS * HOUR
  const args = ['--all', '--for', `${BAN_HOURS}h`, '--yes']
  const isDone = await command(world, 'ban', 'add', 'network', SCRAPER, ...args)
  if (isDone) model.bans.push({ kind: 'network', value: SCRAPER, until })
}
