import { type Device, isOk, isUnsure } from './device.ts'
import type { Person, Post } from './model.ts'
import type { World } from './world.ts'

const WORDS =
  'утро дождь трамвай кофе книга окно город снег музыка вечер дорога чай письмо сад'.split(' ')
/** Each text has such a word of its own, by which it is found anywhere. */
export const MARK = /mark\d+z/g
const RECENT = 120
const TRIES = 8

function newText({ model, chance }: World): string {
  const words = Array.from({ length: 3 + chance.below(12) }, () => chance.pick(WORDS))
  return `${words.join(' ')} mark${++model.texts}z`
}

export async function write(
  world: World,
  person: Person,
  device: Device,
  replied?: Post,
): Promise<Post | undefined> {
  const { model, clock, findings } = world
  const text = newText(world)
  const attempt = {
    owner: person.n,
    state: 'sent' as 'sent' | 'published' | 'refused',
    at: clock.now(),
  }
  model.attempts.set(text, attempt)
  const headers = { 'idempotency-key': `key-${model.texts}` }
  const path = replied ? `/posts/${replied.id}/replies` : '/posts'
  const what = replied ? 'reply' : 'post'
  const sent = { body: { text }, headers }
  const answer = await world.callFirmly(person, device, what, ['POST', path, sent])
  const { status, body } = answer
  const isBlocked = person.blockedUntil > clock.now()
  if (status === 201) {
    attempt.state = 'published'
    if (isBlocked && attempt.at > person.blockedAt)
      findings.add('a blocked person published', { text })
    if (model.posts.has(body.id)) findings.add('two publications have one id', { id: body.id })
    return model.addPost({ id: body.id, owner: person.n, at: attempt.at, text })
  }
  if (!isUnsure(answer)) attempt.state = 'refused'
  if (status === 403 && body.code === 'BLOCKED' && person.blockedAt === 0) {
    findings.add('a person without a block is blocked', { person: person.n })
  }
  return undefined
}

/** Returns a visible post, mostly a new one. */
export function recentPost({ model, chance }: World): Post | undefined {
  const ids = [...model.posts.keys()]
  for (let time = 0; time < TRIES; time++) {
    const back = Math.abs(chance.next() + chance.next() - 1) * Math.min(ids.length, RECENT)
    const post = model.posts.get(ids[ids.length - 1 - Math.floor(back)] ?? '')
    if (post && isVisible(post) && model.owner(post).deletedAt === undefined) return post
  }
  return undefined
}

export const isVisible = ({ deletedAt, removedAt, isUnsure, isBusy }: Post) =>
  deletedAt === undefined && removedAt === undefined && !isUnsure && !isBusy

/** Runs `work` unless another call about the post is in flight. */
export async function alone(post: Post, work: () => Promise<void>): Promise<void> {
  if (post.isBusy) return
  post.isBusy = true
  await work().finally(() => {
    post.isBusy = false
  })
}

export async function edit(
  world: World,
  person: Person,
  device: Device,
  post: Post,
): Promise<void> {
  const text = newText(world)
  await alone(post, async () => {
    const sent = { body: { text } }
    const answer = await world.callFirmly(person, device, 'edit', [
      'PATCH',
      `/posts/${post.id}`,
      sent,
    ])
    if (answer.status === 200) post.texts = [text]
    // The first try may have been in time, and its repetition too late.
    else if (isUnsure(answer) || answer.body.code === 'EDIT_PERIOD_EXPIRED') post.texts.push(text)
  })
}

export async function remove(world: World, person: Person, device: Device): Promise<void> {
  const { model, chance, clock } = world
  const own = person.posts.flatMap((id) => model.posts.get(id) ?? []).filter(isVisible)
  const post = chance.pick(own)
  if (!post) return
  await alone(post, async () => {
    const path = `/posts/${post.id}`
    const answer = await world.callFirmly(person, device, 'delete', ['DELETE', path])
    if (isOk(answer) || answer.status === 404) post.deletedAt = clock.now()
    else if (isUnsure(answer)) post.isUnsure = true
  })
}

export async function like(
  world: World,
  person: Person,
  device: Device,
  isOn: boolean,
): Promise<void> {
  const { model, chance } = world
  const post = isOn ? recentPost(world) : model.posts.get(likedBy(world, person) ?? '')
  if (!post) return
  const key = `${person.n} ${post.id}`
  const before = model.likes.get(key) ?? { state: false, isBusy: false }
  if (before.isBusy) return
  const { state } = before
  model.likes.set(key, { state: 'unsure', isBusy: true })
  const path = `/posts/${post.id}/likes`
  const method = isOn ? 'POST' : 'DELETE'
  const answer = await world.callFirmly(person, device, isOn ? 'like' : 'unlike', [method, path])
  const now = answer.status === 200 ? isOn : isUnsure(answer) ? 'unsure' : state
  model.likes.set(key, { state: now, isBusy: false })

  function likedBy({ model: { likes } }: World, { n }: Person): string | undefined {
    const own = [...likes].filter(([of, { state }]) => state === true && of.startsWith(`${n} `))
    return chance.pick(own)?.[0].split(' ')[1]
  }
}

export async function readReceived(world: World, person: Person, device: Device): Promise<void> {
  const path = '/posts/replies/received?limit=50'
  const list = await world.call(person, device, 'received', ['GET', path])
  if (list.status !== 200) return
  const numbers = list.body.posts.map((post: { received_no: number }) => post.received_no)
  const seen = Math.max(0, ...numbers)
  if (seen <= list.body.seen) return
  const sent = { body: { seen } }
  const answer = await world.call(person, device, 'mark seen', [
    'PUT',
    '/users/current/received',
    sent,
  ])
  if (isOk(answer)) person.seen = Math.max(person.seen, seen)
}

export async function look(world: World, person: Person, device: Device): Promise<void> {
  const word = encodeURIComponent(world.chance.pick(WORDS) ?? '')
  await world.call(person, device, 'read', ['GET', '/posts?limit=20'])
  await world.call(person, device, 'search', ['GET', `/posts/search?q=${word}`])
}
