import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const PEOPLE = [
  'zapyataya',
  'sestra_nina',
  'pekar_zakhar',
  'vagon_47',
  'papa_dvoih',
  'nastroyshik',
  'lev_s_lekcii',
  'tonya_s_dachi',
] as const

/** The person that the demo's link signs in as. */
export const VIEWER: Person = 'zapyataya'

export type Person = (typeof PEOPLE)[number]

export type WallPost = {
  by: Person
  /** In minutes. */
  ago: number
  text: string
  /** How many of PEOPLE like it. */
  likes: number
  isEdited: boolean
  replied: WallPost | undefined
}

/** Author, age and likes of a post, such as `  vagon_47 1w2h +7 edited`. */
const HEAD =
  /^(?<indent> *)(?<by>\w+) (?:(?<w>\d+)w)?(?:(?<d>\d+)d)?(?:(?<h>\d+)h)?(?:(?<m>\d+)m)? \+(?<likes>\d+)(?<edited> edited)?$/
const UNITS = Object.entries({ w: 7 * 24 * 60, d: 24 * 60, h: 60, m: 1 })

export const WALL_POSTS = readWall(readFileSync(join(import.meta.dirname, 'wall.txt'), 'utf8'))

/** Reads posts whose text follows their head; replies are indented below what they answer. */
function readWall(wall: string): WallPost[] {
  const posts: WallPost[] = []
  const levels: WallPost[] = []
  for (const line of wall.split('\n')) {
    const head = HEAD.exec(line)?.groups
    const last = posts.at(-1)
    if (!head) {
      if (last) last.text += `${line.trimStart()}\n`
      continue
    }
    const level = (head.indent ?? '').length / 2
    const post: WallPost = {
      by: head.by as Person,
      ago: UNITS.reduce((sum, [unit, minutes]) => sum + Number(head[unit] ?? 0) * minutes, 0),
      text: '',
      likes: Number(head.likes),
      isEdited: head.edited !== undefined,
      replied: levels[level - 1],
    }
    levels[level] = post
    posts.push(post)
  }
  for (const post of posts) post.text = post.text.trimEnd()
  return posts.sort((one, other) => other.ago - one.ago)
}
