import { DAY } from './clock.ts'
import { type Device, isOk, isUnsure } from './device.ts'
import type { Person } from './model.ts'
import { addDevice, askCode, MAIL_DOMAINS, signIn } from './signing-in.ts'
import type { World } from './world.ts'

export const SUBJECTS = {
  emailChanged: 'Почта аккаунта изменена',
  deleted: 'Аккаунт удалён',
  replies: 'Вам ответили',
}

export function expectMail({ model, clock }: World, to: string, subject: string): void {
  model.mails.push({ to, subject, steadyAt: clock.steady(), isReported: false })
}

export async function mute(world: World, person: Person, device: Device): Promise<void> {
  const other = world.chance.pick(world.model.members())
  if (!other || other === person) return
  await world.call(person, device, 'mute', ['PUT', `/users/${other.id}/mute`])
}

export async function rename(world: World, person: Person, device: Device): Promise<void> {
  const username = `name_${person.n}_${world.chance.below(1e5)}`
  const sent = { body: { username } }
  const path = '/users/current/profile'
  const answer = await world.call(person, device, 'rename', ['PATCH', path, sent])
  if (isUnsure(answer)) person.formerNames.push(username)
  if (answer.status !== 200) return
  if (person.name) person.formerNames.push(person.name)
  person.name = username
}

export async function signInElsewhere(world: World, person: Person): Promise<void> {
  await signIn(world, person, addDevice(world, person), { path: '/logins' })
}

/** Downloads the archive. A second one of a day is refused, which is no finding. */
export async function exportData(world: World, _: Person, device: Device): Promise<void> {
  const path = '/users/current/downloads'
  const answer = await world.call(undefined, device, 'export', ['POST', path])
  if (answer.status !== 201) return
  const headers = { 'x-forwarded-for': device.ip }
  const archive = await fetch(world.wall.url + answer.body.path, { headers }).catch(() => undefined)
  const bytes = await archive?.arrayBuffer().catch(() => undefined)
  world.count('archive', archive?.status ?? 0)
  if (archive?.status === 200 && bytes?.byteLength === 0) world.findings.add('an archive is empty')
}

/** Changes the e-mail; one in four then undoes it by the link in the mail to the old address. */
export async function changeEmail(world: World, person: Person, device: Device): Promise<void> {
  const { model, chance } = world
  if (model.moderators.includes(person.n)) return
  const number = chance.below(1e6).toString(36)
  const email = `new${person.n}.${number}@mail${person.n % MAIL_DOMAINS}.example`
  const { clientToken } = device
  const path = '/users/current/email'
  const { started, mail } = await askCode(world, email, () =>
    world.call(person, device, 'e-mail start', ['PUT', path, { body: { email, clientToken } }]),
  )
  if (started.status !== 201 || !mail) return
  const verify = `${path}/${started.body.id}/verify`
  const sent = { body: { confirmCode: mail.code, clientToken } }
  const answer = await world.callFirmly(person, device, 'e-mail', ['PUT', verify, sent])
  if (answer.status !== 200) {
    person.formerEmails.push(email)
    person.isUnsure ||= isUnsure(answer)
    return
  }
  person.formerEmails.push(person.email)
  const old = person.email
  person.email = email
  expectMail(world, old, SUBJECTS.emailChanged)
  if (chance.isHit(0.25)) await undoChange(world, person, old)
}

async function undoChange(world: World, person: Person, old: string): Promise<void> {
  const { relay, wall } = world
  const isNotice = ({ to, subject }: { to: string; subject: string }) =>
    to === old && subject.startsWith(SUBJECTS.emailChanged)
  const notice = await relay.find(isNotice, 4000)
  const [, id, secret] = /#([^\s.]+)\.(\w+)/.exec(notice?.text ?? '') ?? []
  if (!id) return
  const device = addDevice(world, person)
  const sent = { body: { secret } }
  const path = `/email-changes/${id}/undo`
  const answer = await world.callFirmly(person, device, 'undo', ['POST', path, sent])
  if (!isOk(answer)) {
    if (isUnsure(answer)) person.isUnsure = true
    else world.findings.add('a change of e-mail could not be undone', { url: wall.url, ...answer })
    return
  }
  person.formerEmails.push(person.email)
  person.email = old
  for (const one of person.devices) one.closedBecause = 'the change of e-mail was undone'
}

/** Deletes the account; 40 % come back within 13 days. */
export async function leave(world: World, person: Person, device: Device): Promise<void> {
  const { model, chance, clock } = world
  if (model.moderators.includes(person.n)) return
  const { clientToken } = device
  const path = '/users/current/deletion'
  const { started, mail } = await askCode(world, person.email, () =>
    world.call(person, device, 'leave start', ['POST', path, { body: { clientToken } }]),
  )
  if (started.status !== 201 || !mail) return
  const sent = { body: { confirmCode: mail.code, clientToken } }
  const verify = `${path}/${started.body.id}/verify`
  const answer = await world.callFirmly(person, device, 'leave', ['POST', verify, sent])
  if (answer.status !== 200) {
    person.isUnsure ||= isUnsure(answer)
    return
  }
  person.deletedAt = clock.now()
  expectMail(world, person.email, SUBJECTS.deleted)
  for (const one of person.devices) one.closedBecause = 'the account is deleted'
  if (chance.isHit(0.4)) person.returnsAt = person.deletedAt + chance.next() * 13 * DAY
}
