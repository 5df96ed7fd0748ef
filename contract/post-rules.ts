import type { Post, PostBody, PostPage, RepliedPost } from './posts.ts'

/** What an author who has written nothing has written: the default of each of `writtenFields`. */
export const EMPTY_POST_BODY: Required<PostBody> = { text: '' }
export const WRITTEN_FIELD_NAMES = Object.keys(EMPTY_POST_BODY) as (keyof PostBody)[]

const TITLE_MAX = 60

type TitledPost = { text: string; owner: Pick<Post['owner'], 'username'> }

export function postTitle({ owner, text }: TitledPost): string {
  return `${owner.username}: ${excerpt(text, TITLE_MAX)}`
}

const SEGMENTER = new Intl.Segmenter('ru', { granularity: 'grapheme' })

/** Returns the first characters as people count them: a flag or a family is one. */
export function firstCharacters(text: string, most: number): string[] {
  const characters: string[] = []
  for (const { segment } of SEGMENTER.segment(text)) {
    if (characters.length === most) break
    characters.push(segment)
  }
  return characters
}

/** Returns the beginning of a text: whole words in at most `max` characters, on one line. */
export function excerpt(text: string, max: number): string {
  const line = text.replace(/\s+/gu, ' ').trim()
  const characters = firstCharacters(line, max + 1)
  if (characters.length <= max) return line
  const end = characters.lastIndexOf(' ', max - 1)
  // A word that is longer than half the line, such as a URL, is cut.
  const beginning = characters.slice(0, end > max / 2 ? end : max - 1).join('')
  return `${beginning.replace(/[\s.,:;—–-]+$/u, '')}…`
}

/** Returns a text as lists and pictures show it: several empty lines in a row become one. */
export function joinEmptyLines(text: string): string {
  return text.replace(/\n\s*\n\s*\n/g, '\n\n')
}

export function threadTitle({ actions }: { actions: { replied_post_id: string | null } }): string {
  return actions.replied_post_id === null ? 'Запись' : 'Ответ'
}

/** Whether there are posts above the replied post. */
export function hasMoreAncestors({
  actions,
}: {
  actions: Pick<Post['actions'], 'parent_post_id' | 'replied_post_id'>
}): boolean {
  return actions.replied_post_id !== actions.parent_post_id
}

type TimedPost = { created_at: number }

/** Returns the seconds left to edit, at most the period: the browser's clock may lag behind. */
export function editSecondsLeft(post: TimedPost, now: number, periodSeconds: number): number {
  const left = Math.ceil(post.created_at + periodSeconds - now)
  return Math.max(0, Math.min(periodSeconds, left))
}

/** Returns the ids of all posts in an answer. */
export function postIdsOf(page: Post | Pick<PostPage, 'posts'>): string[] {
  const posts = 'posts' in page ? page.posts : [page]
  return posts.flatMap((post) =>
    [post, post.actions.replied_post].flatMap((it) =>
      it ? [it.id, ...(it.clarification ? [it.clarification.id] : [])] : [],
    ),
  )
}

/** What stands before the text of a clarification. */
export const CLARIFIES = 'Автор уточняет'

type ClarifiedPost = Pick<RepliedPost, 'text' | 'clarification'>

/** Returns the text of a post and its clarification, for readers without the app. */
export function clarifiedText({ text, clarification }: ClarifiedPost): string {
  return clarification ? `${text}\n\n${CLARIFIES}: ${clarification.text}` : text
}

/** Returns when a post was published, edited or clarified last. */
export function changedAt({ created_at, modified_at = created_at, clarification }: Post): number {
  const { created_at: since = 0, modified_at: edited = since } = clarification ?? {}
  return Math.max(modified_at, edited)
}
