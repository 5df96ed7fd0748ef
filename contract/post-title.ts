import type { Post } from './posts.ts'

const TITLE_MAX = 60

type Titled = { text: string; owner: Pick<Post['owner'], 'username'> }

/** What a browser's tab and a link to a post call it: its author, and how it begins. */
export function postTitle({ owner, text }: Titled): string {
  return `${owner.username}: ${excerpt(text, TITLE_MAX)}`
}

/** The beginning of a text on one line, in at most `max` characters: whole words, and an ellipsis where it goes on. */
export function excerpt(text: string, max: number): string {
  const line = text.replace(/\s+/gu, ' ').trim()
  const characters = [...line]
  if (characters.length <= max) return line
  const end = characters.lastIndexOf(' ', max - 1)
  // A word as long as the line, such as an address, is cut where it must be.
  const kept = characters.slice(0, end > max / 2 ? end : max - 1).join('')
  return `${kept.replace(/[\s.,:;—–-]+$/u, '')}…`
}
