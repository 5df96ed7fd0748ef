import { usernameProblem } from './account-rules.ts'
import type { Post } from './posts.ts'

const ADDRESS =
  /(?:(?<![\p{L}\p{N}_])https?:\/\/|(?<![\p{L}\p{N}_@./:\\-])www\.(?=[\p{L}\p{N}]))[^\s<>"«»“”„`\p{DI}\p{ExtPict}\p{RI}]+/iu
/** Matches no part of a longer word, of an e-mail address or of a path. */
const NAME = /(?<![\p{L}\p{M}\p{N}_.+%&=#/\\@'-])@(?<name>\w+)(?![\p{L}\p{M}\p{N}_@]|[.-]\w)/iu

/** Matches addresses, which begin with http(s):// or www., and what may be the name of a user. */
export const ADDRESS_OR_NAME = new RegExp(`${ADDRESS.source}|${NAME.source}`, 'giu')

/** Returns the names that a text has after `@`, in small letters, each once. */
export function namesIn(text: string): string[] {
  if (!text.includes('@')) return []
  const names = new Set<string>()
  for (const { groups } of text.matchAll(ADDRESS_OR_NAME)) {
    const name = groups?.name
    if (name && usernameProblem(name) === null) names.add(name.toLowerCase())
  }
  return [...names]
}

const BEGUN = /(?<![\p{L}\p{M}\p{N}_.+%&=#/\\@'-])@(?<start>\w{2,32})$/u

/** Returns the beginning of a name before the caret, and where its `@` is; null if there is none. */
export function nameBefore(text: string, caret: number): { at: number; start: string } | null {
  const found = /^\w/.test(text.slice(caret)) ? null : BEGUN.exec(text.slice(0, caret))
  return found && { at: found.index, start: found.groups?.start ?? '' }
}

/** Returns the present username of the user mentioned by a name; undefined if there is none. */
export function namedBy(
  { mentions = [] }: Pick<Post, 'mentions'>,
  name: string,
): string | undefined {
  const written = name.toLowerCase()
  const isMeant = (it: (typeof mentions)[number]) =>
    (it.name ?? it.username.toLowerCase()) === written
  return mentions.find(isMeant)?.username
}
