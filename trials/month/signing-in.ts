import { DAY, HOUR } from './clock.ts'
import { type Answer, type Device, isOk, isUnsure, newDevice, startBody } from './device.ts'
import type { Person } from './model.ts'
import type { ArrivedMail } from './relay.ts'
import type { World } from './world.ts'

/** How long people wait for a code, in real milliseconds. */
const PATIENCE_MS = 6000
const PATIENCE_IN_OUTAGE_MS = 1000
/** The same operation gets no second mail within a minute: its mail came before. */
const SAME_MAIL_MS = 10 * 60_000
const TOKEN_MS = 200_000
const DEVICES_MAX = 8
/** A call that may have closed the session had no answer. */
export const MAYBE_CLOSED = 'it may be closed'
/** A fifth of the people share the addresses of a few carriers. */
const CARRIERS = 7
const SPAMMER = { every: 60, first: 17 }
export const MAIL_DOMAINS = 9

function ipOf(n: number): string {
  if (n % 5 === 0) return `5.8.0.${1 + (n % CARRIERS)}`
  return `5.${10 + (n >> 12)}.${(n >> 6) & 63}.${1 + (n & 63)}`
}

export function addDevice({ model, chance }: World, person: Person): Device {
  const isAtHome = person.devices.length === 0 || chance.isHit(0.6)
  const ip = isAtHome ? person.ip : ipOf(5 + 5 * chance.below(900))
  const device = newDevice(++model.devices, ip)
  person.devices.push(device)
  return device
}

/** Starts an operation with `start`, and waits for the mail with its code. */
export async function askCode(
  world: World,
  email: string,
  start: () => Promise<Answer>,
): Promise<{ started: Answer; mail: ArrivedMail | undefined }> {
  const { clock, relay, model } = world
  world.waiting++
  try {
    const [after, steadyAt] = [clock.now() - 2000, clock.steady()]
    const started = await start()
    if (started.status !== 201) return { started, mail: undefined }
    const wasWell = relay.isUp && relay.mood === 'well'
    model.codes.push({ email, steadyAt, wasWell, hasCome: false, isReported: false })
    const isFor = (mail: ArrivedMail) => mail.code !== undefined && mail.to === email
    const within = wasWell ? PATIENCE_MS : PATIENCE_IN_OUTAGE_MS
    const fresh = await relay.find((mail) => isFor(mail) && mail.at >= after, within)
    const since = clock.now() - SAME_MAIL_MS
    return { started, mail: fresh ?? relay.mails.findLast((it) => isFor(it) && it.at > since) }
  } finally {
    world.waiting--
  }
}

type Entry = { path: '/logins' | '/registrations'; restore?: true }

/** Signs in. Returns `in`, or the code of the refusal; undefined if no code came. */
export async function signIn(
  world: World,
  person: Person,
  device: Device,
  { path, restore }: Entry,
): Promise<string | undefined> {
  const { clock, wall } = world
  device.token = undefined
  const body = startBody(device, person.email)
  const { started, mail } = await askCode(world, person.email, () =>
    world.call(person, device, `${path} start`, ['POST', path, { body }]),
  )
  if (started.status !== 201) return isUnsure(started) ? undefined : String(started.body.code)
  if (!mail) return undefined
  world.waiting++
  try {
    const { clientToken } = device
    const sent = { confirmCode: mail.code, clientToken, ...(restore && { restore }) }
    const verify = `${path}/${started.body.id}/verify`
    const answer = await world.call(person, device, `${path} verify`, [
      'POST',
      verify,
      { body: sent },
    ])
    if (isUnsure(answer)) person.isUnsure ||= restore === true
    if (answer.status !== 200) return isUnsure(answer) ? undefined : String(answer.body.code)
    const now = clock.now()
    Object.assign(device, { token: answer.body.accessToken.token, tokenAt: now, usedAt: now })
    Object.assign(device, { tokenOfStart: wall.starts, signedInAt: now, isSignedIn: true })
    device.closedBecause = undefined
    await learnName(world, person, device)
    return 'in'
  } finally {
    world.waiting--
  }
}

async function learnName(world: World, person: Person, device: Device): Promise<void> {
  const { status, body } = await world.call(person, device, 'me', ['GET', '/users/current'])
  if (status !== 200) return
  if (person.id === undefined) person.registeredAt = world.clock.now()
  person.id = body.id
  person.name = body.username
}

const SESSION_DAYS = 90
const UNUSED_DAYS = 30
/** Within so many days of the limit either answer is right. */
const NEAR_DAYS = 0.1

/** Gets a fresh access token. Returns whether the device is signed in. */
export async function refresh(world: World, person: Person, device: Device): Promise<boolean> {
  const { clock, wall } = world
  if (!device.isSignedIn) return false
  const age = clock.now() - device.tokenAt
  if (device.token && age >= 0 && age < TOKEN_MS && device.tokenOfStart === wall.starts) return true
  world.waiting++
  try {
    const { clientToken } = device
    const path = ['PATCH', '/sessions/current', { body: { clientToken } }] as [
      string,
      string,
      object,
    ]
    const before = judgedAges(world, device)
    const answer = await world.callFirmly(person, device, 'refresh', path)
    if (answer.status === 200) return keepToken(world, { person, device, answer, before })
    if (answer.status === 401) {
      device.isSignedIn = false
      const isJumped = world.jumpedUntil > device.usedAt
      const isExpected =
        device.closedBecause !== undefined ||
        before.unused > UNUSED_DAYS - NEAR_DAYS ||
        before.age > SESSION_DAYS - NEAR_DAYS ||
        person.blockedAt > device.signedInAt ||
        person.deletedAt !== undefined ||
        person.isUnsure ||
        isJumped
      const details = { person: person.n, ...before, message: answer.body.message }
      if (!isExpected) world.findings.add('a session was refused too early', details)
    }
    return false
  } finally {
    world.waiting--
  }
}

type Ages = { unused: number; age: number }

const judgedAges = ({ clock }: World, { usedAt, signedInAt }: Device): Ages => ({
  unused: (clock.now() - usedAt) / DAY,
  age: (clock.now() - signedInAt) / DAY,
})

type Refreshed = { person: Person; device: Device; answer: Answer; before: Ages }

function keepToken(world: World, { person, device, answer, before }: Refreshed): true {
  const { clock, wall, findings } = world
  const details = { person: person.n, ...before }
  if (device.closedBecause === MAYBE_CLOSED) device.closedBecause = undefined
  if (device.closedBecause !== undefined && !person.isUnsure) {
    findings.add(`a session that must be closed was refreshed: ${device.closedBecause}`, details)
  }
  const isOver = before.unused > UNUSED_DAYS + NEAR_DAYS || before.age > SESSION_DAYS + NEAR_DAYS
  if (isOver) findings.add('a session was refreshed past its time', details)
  const now = clock.now()
  Object.assign(device, { token: answer.body.accessToken.token, tokenAt: now, usedAt: now })
  device.tokenOfStart = wall.starts
  return true
}

/** Returns a signed-in device of a person, who signs in if none is; undefined if that fails. */
export async function deviceOf(world: World, person: Person): Promise<Device | undefined> {
  const { chance } = world
  if (person.deletedAt !== undefined) return undefined
  const signedIn = person.devices.filter(({ isSignedIn }) => isSignedIn)
  const device = chance.isHit(0.3) ? chance.pick(signedIn) : signedIn[0]
  if (device && (await refresh(world, person, device))) return device
  if (device?.isSignedIn) return undefined
  if (person.devices.length > DEVICES_MAX) {
    person.devices = person.devices.filter(({ isSignedIn }) => isSignedIn)
  }
  const known = chance.isHit(0.8) ? person.devices[0] : undefined
  const used = known ?? addDevice(world, person)
  const path = person.id === undefined ? '/registrations' : '/logins'
  return (await signIn(world, person, used, { path })) === 'in' ? used : undefined
}

export async function register(world: World): Promise<void> {
  const { model, chance, clock, findings } = world
  const n = model.people.length
  const domain = `mail${n % MAIL_DOMAINS}.example`
  const person = model.addPerson({
    email: `person${n}.${chance.below(1e6).toString(36)}@${domain}`,
    ip: ipOf(n),
    isSpammer: n % SPAMMER.every === SPAMMER.first,
  })
  const outcome = await signIn(world, person, addDevice(world, person), { path: '/registrations' })
  person.hasCome = true
  const isBanned = model.bans.some(({ value, until }) => value === domain && until > clock.now())
  if (isBanned && outcome === 'in') findings.add('a banned domain registered', { domain })
  if (!isBanned && outcome === 'FORBIDDEN')
    findings.add('a domain without a ban was refused', { domain })
}

/** Signs in to an account that was deleted within 14 days, which brings it back. */
export async function comeBack(world: World, person: Person): Promise<void> {
  const { clock, findings } = world
  const device = addDevice(world, person)
  const first = await signIn(world, person, device, { path: '/logins' })
  person.returnsAt = clock.now() + HOUR
  if (first === 'USER_NOT_FOUND') {
    person.returnsAt = undefined
    const days = (clock.now() - (person.deletedAt ?? 0)) / DAY
    findings.add('a deleted account is gone before its time', { person: person.n, days })
  }
  if (first !== 'ACCOUNT_DELETED') return
  const second = await signIn(world, person, device, { path: '/logins', restore: true })
  if (second !== 'in') return
  Object.assign(person, { deletedAt: undefined, returnsAt: undefined, returnedAt: clock.now() })
  for (const other of person.devices) {
    if (other !== device) other.closedBecause = 'the account was deleted'
  }
}

/** Signs out, or closes the other sessions. */
export async function signOut(world: World, person: Person, device: Device): Promise<void> {
  const answer = await world.call(person, device, 'sign out', ['DELETE', '/sessions/current'])
  if (isOk(answer)) device.isSignedIn = false
  else if (isUnsure(answer)) device.closedBecause = MAYBE_CLOSED
}

export async function closeOthers(world: World, person: Person, device: Device): Promise<void> {
  const answer = await world.call(person, device, 'close others', ['DELETE', '/sessions'])
  if (!isOk(answer)) return
  for (const other of person.devices)
    if (other !== device) other.closedBecause = 'closed by another'
}
