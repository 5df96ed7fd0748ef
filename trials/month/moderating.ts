import { DAY } from './clock.ts'
import { type Device, isOk, isUnsure } from './device.ts'
import type { Person, Post } from './model.ts'
import { expectMail } from './settings.ts'
import { deviceOf } from './signing-in.ts'
import type { World } from './world.ts'
import { alone, isVisible, recentPost } from './writing.ts'

export const DECISIONS = {
  removed: 'Ваша запись удалена',
  refused: 'Решение осталось в силе',
  returned: 'Ваша запись возвращена',
}

const REASONS = 7

/** Reports a post, mostly one of a spammer. */
export async function report(world: World, person: Person, device: Device): Promise<void> {
  const { model, chance, clock } = world
  const isOfSpammer = (post: Post) => isVisible(post) && model.owner(post).isSpammer
  const spam = [...model.posts.values()].filter(isOfSpammer)
  const post = chance.isHit(0.7) ? chance.pick(spam) : recentPost(world)
  if (!post || post.owner === person.n) return
  const reason = 1 + chance.below(REASONS)
  await alone(post, async () => {
    const path = `/posts/${post.id}/reports?reason_id=${reason}`
    const answer = await world.callFirmly(person, device, 'report', ['POST', path, { body: {} }])
    if (!isOk(answer) && !isUnsure(answer)) return
    const isFirst = !post.reporters.has(person.n) && !post.isKept && isOk(answer)
    post.reporters.add(person.n)
    const about = {
      postId: post.id,
      by: person.n,
      at: clock.now(),
      closedAt: undefined,
      isJudged: false,
    }
    if (isFirst) model.reports.push(about)
  })
}

/** Appeals once against a removal; a second appeal must be refused. */
export async function appeal(world: World, person: Person, device: Device): Promise<void> {
  const { model, chance, findings } = world
  const own = person.posts.flatMap((id) => model.posts.get(id) ?? [])
  const isRemoved = ({ removedAt, deletedAt, isUnsure }: Post) =>
    removedAt !== undefined && deletedAt === undefined && !isUnsure
  const post = chance.pick(own.filter(isRemoved))
  if (!post) return
  await alone(post, async () => {
    const text = `Прошу вернуть mark${++model.texts}z`
    const path = `/users/current/removed-posts/${post.id}/appeal`
    const sent = { body: { text } }
    const answer = await world.call(person, device, 'appeal', ['POST', path, sent])
    if (isUnsure(answer)) post.isUnsure = true
    else if (post.appeal === undefined && isOk(answer)) post.appeal = { text, state: 'open' }
    else if (isOk(answer)) findings.add('a second appeal was taken', { id: post.id })
    else if (post.appeal === undefined && answer.body.code !== 'POST_NOT_FOUND')
      findings.add('an appeal was refused', { id: post.id, ...answer })
  })
}

/** Decides about everything in the queue. */
export async function moderate(world: World): Promise<void> {
  const { model, chance, findings } = world
  const n = chance.pick(model.moderators)
  if (n === undefined) return
  const moderator = model.person(n)
  const device = await deviceOf(world, moderator)
  if (!device) return
  const queue = await world.call(moderator, device, 'queue', ['GET', '/moderation/queue'])
  if (queue.status === 404) findings.add('a moderator finds no queue', { moderator: n })
  if (queue.status !== 200) return
  for (const { id } of queue.body.posts) {
    const post = model.posts.get(id)
    if (post) await alone(post, () => decide(world, { moderator, device, post }))
  }
}

type Deciding = { moderator: Person; device: Device; post: Post }

async function decide(world: World, { moderator, device, post }: Deciding): Promise<void> {
  const { model, chance, clock } = world
  const author = model.owner(post)
  const isOnAppeal = post.appeal?.state === 'open'
  const share = isOnAppeal ? 0.5 : author.isSpammer ? 0.8 : 0.25
  const verdict = chance.isHit(share) ? 'remove' : 'keep'
  const isBlocking = verdict === 'remove' && author.isSpammer && chance.isHit(0.2)
  const days = isBlocking ? 1 + chance.below(5) : undefined
  const body = { verdict, ...(days !== undefined && { block: { days } }) }
  const path = `/moderation/posts/${post.id}/decision`
  const answer = await world.call(moderator, device, 'decide', ['POST', path, { body }])
  if (isUnsure(answer)) {
    post.isUnsure = true
    if (isBlocking) author.isUnsure = true
  }
  if (!isOk(answer)) return
  post.wasDecided = true
  for (const one of model.reports) if (one.postId === post.id) one.closedAt ??= clock.now()
  const wasRemoved = post.removedAt !== undefined
  // Each removal may be appealed against once.
  if (verdict === 'remove' && !wasRemoved) post.appeal = undefined
  if (verdict === 'remove') post.removedAt ??= clock.now()
  else Object.assign(post, { removedAt: undefined, isKept: true })
  if (isOnAppeal && post.appeal) post.appeal.state = verdict === 'remove' ? 'refused' : 'granted'
  announce(world, { author, post, verdict, wasRemoved })
  if (days === undefined) return
  author.blockedAt = clock.now()
  author.blockedUntil = clock.now() + days * DAY
  for (const one of author.devices) one.closedBecause = 'blocked'
}

type Decided = { author: Person; post: Post; verdict: string; wasRemoved: boolean }

/** The author gets a mail about a removal, and about a later decision. */
function announce(world: World, { author, post, verdict, wasRemoved }: Decided): void {
  // A post of somebody who left, or that reports have hidden, may or may not be announced.
  if (author.deletedAt !== undefined || author.isUnsure || post.deletedAt !== undefined) return
  if (verdict === 'remove') {
    expectMail(world, author.email, wasRemoved ? DECISIONS.refused : DECISIONS.removed)
  } else if (wasRemoved) expectMail(world, author.email, DECISIONS.returned)
}
