import { DAY } from './clock.ts'
import { sessionIdOf } from './device.ts'
import { MAYBE_CLOSED, refresh } from './signing-in.ts'
import type { World } from './world.ts'

const MARKS_CHECKED = 25
const MARK_MAX = 100
const SESSIONS_MAX = 10
const UNUSED_DAYS = 29.9
const SESSION_DAYS = 89.9

/** Learns what became of calls about accounts that had no answer. */
export async function resolveUnsure({ wall, model, clock }: World): Promise<void> {
  const rows = await wall.query<{ id: string; email: string; isDeleted: boolean }>(
    'SELECT id::text, email, deleted_at IS NOT NULL AS "isDeleted" FROM users',
  )
  const byId = new Map(rows.map((row) => [row.id, row]))
  for (const person of model.people.filter((one) => one.isUnsure)) {
    const row = byId.get(person.id ?? '')
    if (row && row.email !== person.email) {
      person.formerEmails.push(person.email)
      person.email = row.email
    }
    const isGone = row === undefined || row.isDeleted
    person.deletedAt = isGone ? (person.deletedAt ?? clock.now()) : undefined
    person.blockedAt = clock.now()
    for (const device of person.devices) device.closedBecause = MAYBE_CLOSED
    person.isUnsure = false
  }
}

/** Compares sessions, unread marks and moderators with what was acknowledged. */
export async function judgePeople(world: World): Promise<void> {
  await judgeSessions(world)
  await judgeMarks(world)
  const { wall, model, findings } = world
  const stored = await wall.query<{ email: string }>('SELECT email FROM moderators')
  if (stored.length !== model.moderators.length) findings.add('a moderator is lost', { stored })
}

async function judgeSessions({ wall, model, clock, findings, jumpedUntil }: World): Promise<void> {
  const rows = await wall.query<{ id: string; owner: string }>(
    'SELECT id::text, user_id::text AS owner FROM sessions',
  )
  const [ids, counts, now] = [
    new Set(rows.map(({ id }) => id)),
    new Map<string, number>(),
    clock.now(),
  ]
  for (const { owner } of rows) counts.set(owner, (counts.get(owner) ?? 0) + 1)
  for (const [owner, count] of counts) {
    if (count > SESSIONS_MAX) findings.add('a person has more than 10 sessions', { owner, count })
  }
  for (const person of model.people) {
    if (person.isUnsure || (counts.get(person.id ?? '') ?? 0) >= SESSIONS_MAX) continue
    for (const device of person.devices) {
      const id = sessionIdOf(device)
      if (!id || !device.isSignedIn) continue
      const isClosed = device.closedBecause !== undefined
      const isOld =
        now - device.usedAt > UNUSED_DAYS * DAY || now - device.signedInAt > SESSION_DAYS * DAY
      const details = { person: person.n, why: device.closedBecause }
      if (isClosed && ids.has(id) && device.closedBecause !== MAYBE_CLOSED)
        findings.add('a closed session is still there', details)
      if (!isClosed && !isOld && !ids.has(id) && device.usedAt > jumpedUntil)
        findings.add('a session is lost', details)
    }
  }
}

/** Counted here anew, without the product's own view. */
const UNREAD = `SELECT s.user_id::text AS id, s.seen_no::int AS seen,
  (SELECT count(*)::int FROM posts p JOIN users a ON a.id = p.owner_id
    WHERE p.recipient_id = s.user_id AND p.received_no > s.seen_no AND p.hidden_for IS NULL
      AND a.deleted_at IS NULL AND NOT EXISTS
        (SELECT FROM mutes_in_force m WHERE m.user_id = s.user_id AND m.muted_id = p.owner_id)) AS unread,
  (SELECT count(*) <> count(DISTINCT received_no) FROM posts p
    WHERE p.recipient_id = s.user_id) AS "isTwice"
  FROM answer_states s`

type Marked = { id: string; seen: number; unread: number; isTwice: boolean }

async function judgeMarks(world: World): Promise<void> {
  const { wall, model, findings } = world
  const people = new Map(model.people.map((person) => [person.id, person]))
  let checked = 0
  for (const { id, seen, unread, isTwice } of await wall.query<Marked>(UNREAD)) {
    if (isTwice) findings.add('two replies to one person have one number', { id })
    const person = people.get(id)
    if (!person || person.deletedAt !== undefined) continue
    if (person.seen > seen) findings.add('a mark of what was seen went back', { person: person.n })
    const isUsable = ({ isSignedIn, closedBecause }: (typeof person.devices)[0]) =>
      isSignedIn && closedBecause === undefined
    const device = person.devices.find(isUsable)
    if (!device || checked >= MARKS_CHECKED || !(await refresh(world, person, device))) continue
    checked++
    const path = '/users/current/received'
    const { status, body } = await world.call(person, device, 'mark', ['GET', path])
    if (status === 200 && body.unread !== Math.min(MARK_MAX, unread)) {
      findings.add(`the mark says ${body.unread}, the rows ${unread}`, { person: person.n })
    }
  }
}
