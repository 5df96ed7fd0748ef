import { DAY, HOUR } from './clock.ts'
import type { Person, Post } from './model.ts'
import type { World } from './world.ts'

const RETURN_DAYS = 14

type Row = { id: string; text: string; hidden: string | null }

/** Compares posts, replies, likes and appeals with what was acknowledged. */
export async function judgePosts(world: World) {
  const { wall, model } = world
  const rows = await wall.query<Row>('SELECT id::text, text, hidden_for AS hidden FROM posts')
  const byId = new Map(rows.map((row) => [row.id, row]))
  judgeTwice(world, rows)
  for (const post of model.posts.values()) judgePost(world, post, byId.get(post.id))
  const adopted = rows.filter(({ id }) => !model.posts.has(id) && !model.history.has(id))
  for (const row of adopted) adopt(world, row)
  const likes = await judgeLikes(world, byId)
  await judgeAppeals(world)
  await judgeCounts(world)
  const visible = rows.filter(({ hidden }) => hidden === null).length
  return { posts: rows.length, visible, adopted: adopted.length, likes }
}

function judgeTwice({ findings }: World, rows: Row[]): void {
  const seen = new Set<string>()
  for (const { text } of rows) {
    if (seen.has(text)) findings.add('a text was published twice', { text })
    seen.add(text)
  }
}

function judgePost(world: World, post: Post, row: Row | undefined): void {
  const { model, findings, clock } = world
  const [owner, now] = [model.owner(post), clock.now()]
  const details = { id: post.id, text: post.texts[0], at: clock.label(post.at), owner: owner.n }
  const isOver = owner.isErased || now - (owner.deletedAt ?? now) > RETURN_DAYS * DAY - HOUR
  if (!row) {
    const mayBeGone =
      post.deletedAt !== undefined || post.removedAt !== undefined || post.reporters.size > 0
    if (!mayBeGone && !post.isUnsure && !isOver && !owner.isUnsure) {
      findings.add('an acknowledged post is lost', details)
    }
    model.posts.delete(post.id)
    model.gone.push(post)
    return
  }
  if (!post.texts.includes(row.text)) {
    findings.add('a post has another text than was acknowledged', { ...details, is: row.text })
  }
  post.texts = [row.text]
  judgeHidden(world, { post, owner, row, details })
}

type Judged = { post: Post; owner: Person; row: Row; details: object }

function judgeHidden(world: World, { post, owner, row, details }: Judged): void {
  const { findings, clock } = world
  const now = clock.now()
  const { hidden } = row
  if (owner.isUnsure || now - owner.returnedAt < HOUR) return
  if (owner.deletedAt !== undefined) {
    if (now - owner.deletedAt > HOUR && hidden === null)
      findings.add('a post of somebody who left is visible', details)
    return
  }
  if (post.isUnsure) {
    post.isUnsure = false
    post.deletedAt = hidden === 'deleted' ? (post.deletedAt ?? now) : undefined
    post.removedAt = hidden === 'removed' ? (post.removedAt ?? now) : undefined
    return
  }
  const wanted =
    post.deletedAt !== undefined ? 'deleted' : post.removedAt !== undefined ? 'removed' : null
  const mayBe = wanted === null && post.reporters.size > 0 ? [null, 'reported'] : [wanted]
  // An author may delete a post that was removed or reported: it stays for the moderators.
  if (wanted === 'deleted') mayBe.push('removed')
  if (!mayBe.includes(hidden)) {
    findings.add(`a post is ${hidden ?? 'visible'}, and was ${wanted ?? 'visible'}`, details)
  }
}

/** Takes a post into the model whose publication had no answer. */
function adopt({ model, findings }: World, { id, text }: Row): void {
  const attempt = model.attempts.get(text)
  if (!attempt) findings.add('a post is there that nobody wrote', { id, text })
  else if (attempt.state === 'refused') findings.add('a refused post is there', { id, text })
  else model.addPost({ id, text, owner: attempt.owner, at: attempt.at })
}

async function judgeLikes({ wall, model, findings }: World, rows: Map<string, Row>) {
  const people = new Map(model.people.map(({ id, n }) => [id, n]))
  const stored = await wall.query<{ post: string; person: string }>(
    'SELECT post_id::text AS post, user_id::text AS person FROM likes',
  )
  const liked = new Set(stored.map(({ post, person }) => `${people.get(person)} ${post}`))
  for (const [key, like] of model.likes) {
    const [n, id = ''] = key.split(' ')
    const person = model.person(Number(n))
    const is = liked.has(key)
    const isGone = !rows.has(id) || person.deletedAt !== undefined || person.isUnsure
    if (like.state !== 'unsure' && !isGone && is !== like.state) {
      findings.add(`a like is ${is ? 'there' : 'lost'}, and was ${like.state}`, { key })
    }
    like.state = is
  }
  return liked.size
}

const APPEAL_DAYS = 179

async function judgeAppeals({ wall, model, findings, clock }: World): Promise<void> {
  const rows = await wall.query<{ id: string; state: string; text: string }>(
    'SELECT post_id::text AS id, state, text FROM appeals',
  )
  const stored = new Map(rows.map((row) => [row.id, row]))
  for (const { id, appeal, isUnsure, owner, at } of model.posts.values()) {
    const { deletedAt, isUnsure: isUnsurePerson } = model.person(owner)
    if (!appeal || isUnsure || deletedAt !== undefined || isUnsurePerson) continue
    if (clock.now() - at > APPEAL_DAYS * DAY) continue
    const row = stored.get(id)
    if (row?.state !== appeal.state || row.text !== appeal.text) {
      findings.add(`an appeal is ${row?.state ?? 'lost'}, and was ${appeal.state}`, { id, at })
    }
  }
}

/** Counted here anew, without the product's own views. */
const COUNTS = {
  'likes of posts': `SELECT p.id FROM posts p WHERE likes_count <>
    (SELECT count(*) FROM likes l WHERE l.post_id = p.id AND NOT l.user_left)`,
  'replies of posts': `SELECT p.id FROM posts p WHERE replies_count <>
    (SELECT count(*) FROM posts r WHERE r.replied_post_id = p.id AND r.hidden_for IS NULL)`,
  'posts of people': `SELECT user_id FROM owner_totals t WHERE posts + replies <>
    (SELECT count(*) FROM posts p WHERE p.owner_id = t.user_id AND p.hidden_for IS NULL)`,
  'likes of no post': `SELECT l.post_id FROM likes l WHERE NOT EXISTS
    (SELECT FROM posts p WHERE p.id = l.post_id)`,
}

async function judgeCounts({ wall, findings }: World): Promise<void> {
  for (const [what, statement] of Object.entries(COUNTS)) {
    const wrong = await wall.query(statement)
    if (wrong.length > 0) findings.add(`wrong counts: ${what}`, { wrong: wrong.slice(0, 5) })
  }
  const { out, err } = await wall.command('recount', '--dry-run')
  if (!/верны/.test(out)) findings.add('recount finds differences', { out, err })
}
