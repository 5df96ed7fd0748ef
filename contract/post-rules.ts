import type { Post } from './posts.ts'

const TITLE_MAX = 60

type TitledPost = { text: string; owner: Pick<Post['owner'], 'username'> }

/** Returns the title of a post for browser tabs and links: its author and the beginning of its text. */
export function postTitle({ owner, text }: TitledPost): string {
  return `${owner.username}: ${excerpt(text, TITLE_MAX)}`
}

/** Returns the beginning of a text on one line: whole words in at most `max` characters, with an ellipsis if it was cut. */
export function excerpt(text: string, max: number): string {
  const line = text.replace(/\s+/gu, ' ').trim()
  const characters = [...line]
  if (characters.length <= max) return line
  const end = characters.lastIndexOf(' ', max - 1)
  // A word that is longer than half the line, such as a URL, is cut.
  const beginning = characters.slice(0, end > max / 2 ? end : max - 1).join('')
  return `${beginning.replace(/[\s.,:;—–-]+$/u, '')}…`
}

/** Returns the title of a post's page for its header. */
export function threadTitle({ actions }: { actions: { replied_post_id: string | null } }): string {
  return actions.replied_post_id === null ? 'Запись' : 'Ответ'
}

/** When a post was published, in unix seconds. */
type Published = { created_at: number }

/** Returns the seconds left to edit a post at `now` (unix seconds), 0 after the period. The server applies the same rule in SQL. */
export function editSecondsLeft(post: Published, now: number, periodSeconds: number): number {
  return Math.max(0, Math.ceil(post.created_at + periodSeconds - now))
}
