import type { Device } from './device.ts'
import type { Person } from './model.ts'
import { appeal, report } from './moderating.ts'
import { changeEmail, exportData, leave, mute, rename, signInElsewhere } from './settings.ts'
import { closeOthers, deviceOf, signOut } from './signing-in.ts'
import type { World } from './world.ts'
import { edit, like, look, readReceived, recentPost, remove, write } from './writing.ts'

type Act = (world: World, person: Person, device: Device) => Promise<unknown>

/** How often each is done, in thousandths. */
const ACTS: [weight: number, act: Act][] = [
  [170, post],
  [230, reply],
  [260, (...who) => like(...who, true)],
  [60, (...who) => like(...who, false)],
  [30, remove],
  [110, readReceived],
  [50, look],
  [30, report],
  [10, mute],
  [15, rename],
  [9, changeEmail],
  [8, signInElsewhere],
  [5, closeOthers],
  [6, exportData],
  [4, signOut],
  [3, leave],
]
const TOTAL = ACTS.reduce((sum, [weight]) => sum + weight, 0)
const WAVE = 7

/** Does one thing on the wall, if the person is or gets signed in. */
export async function act(world: World, person: Person | undefined): Promise<void> {
  if (!person || person.isActing) return
  person.isActing = true
  await actOnce(world, person).finally(() => {
    person.isActing = false
  })
}

async function actOnce(world: World, person: Person): Promise<void> {
  const { chance } = world
  const device = await deviceOf(world, person)
  if (!device) return
  if (person.isSpammer && chance.isHit(0.5)) {
    for (let time = 0; time < WAVE; time++) await write(world, person, device)
    return
  }
  const hasRemoved = person.posts.some((id) => world.model.posts.get(id)?.removedAt !== undefined)
  if (hasRemoved && chance.isHit(0.3)) return appeal(world, person, device)
  await chosenBy(chance.below(TOTAL))(world, person, device)
}

function chosenBy(place: number): Act {
  let end = 0
  for (const [weight, one] of ACTS) {
    end += weight
    if (place < end) return one
  }
  return look
}

async function post(world: World, person: Person, device: Device): Promise<void> {
  const written = await write(world, person, device)
  if (written && world.chance.isHit(0.15)) await edit(world, person, device, written)
}

async function reply(world: World, person: Person, device: Device): Promise<void> {
  const to = recentPost(world)
  if (to) await write(world, person, device, to)
}
