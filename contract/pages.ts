import type { Profile } from './account.ts'
import { PAGE_SIZE } from './constants.ts'
import type { Post, PostPage } from './posts.ts'
import type { Ancestors } from './replies.ts'
import type { SiteText, TextName } from './texts.ts'

/** The pages with content only for signed-in users. Crawlers are asked to leave them out. */
export const USER_PATHS = {
  liked: '/liked',
  ownPosts: '/own/posts',
  ownReplies: '/own/replies',
  received: '/replies',
  searchOwn: '/own/search',
  searchLiked: '/liked/search',
  settings: '/settings',
  email: '/settings/account/email',
  username: '/settings/account/username',
  devices: '/settings/devices',
  passkeys: '/settings/passkeys',
  deleteAccount: '/settings/account/delete',
  reports: '/settings/reports',
  hidden: '/settings/hidden',
} as const

export const PATHS = {
  ...USER_PATHS,
  wall: '/',
  post: '/posts/:id',
  author: '/users/:username',
  authorReplies: '/users/:username/replies',
  search: '/search',
  emailUndo: '/email-undo',
  passkeyUndo: '/passkey-undo',
  invitation: '/invitation',
  replyMails: '/reply-mails',
  about: '/about',
  rules: '/rules',
  privacy: '/privacy',
  consent: '/consent',
  contacts: '/contacts',
} as const

/** The path of the page with what browsers keep for a former address of the wall. */
export const MOVED_PATH = '/moved'

/** The path of the queue: the server answers 404, and the web app shows it to moderators. */
export const MODERATION_PATH = '/moderation'

const CURSOR_PARAM = 'cursor'
export const SEARCH_PARAM = 'q'
const TOKEN_PARAM = 'token'
const STOPPED_PARAM = 'stopped'

export type Page =
  | { name: 'post'; path: string; id: string }
  | { name: 'author' | 'authorReplies'; path: string; username: string }
  | PlainPage<Exclude<keyof typeof PATHS, 'post' | 'author' | 'authorReplies'> | 'moderation'>
type PlainPage<Name> = Name extends string ? { name: Name; path: string } : never

const POST_PATH = /^\/posts\/([^/]+)$/i
const AUTHOR_PATH = /^\/users\/([^/]+)(\/replies)?$/i
/** What was copied with an address, and with which no address of a page ends. */
const END_OF_SENTENCE = /(?<=\w)(?:\/?(?:[^\P{P}_/]|[>`])+)?\s*$/u
/** Messengers and pages put such characters into copied text. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu
const PAGES_BY_PATH = new Map(
  Object.entries({ ...PATHS, moderation: MODERATION_PATH }).map(([name, path]) => {
    return [path as string, { name, path } as Page]
  }),
)

/** Whether a page has content only for signed-in users. */
export function isForUsers({ name }: Page): boolean {
  return name in USER_PATHS
}

/** Returns the page at a path in any spelling; null if there is none. */
export function pageAt(path: string): Page | null {
  const plain = decode(path)
    .replace(INVISIBLE, '')
    .replace(END_OF_SENTENCE, '')
    .replace(/(?<=.)\/$/, '')
  const id = POST_PATH.exec(plain)?.[1]
  if (id !== undefined) return { name: 'post', path: postPath(id), id }
  const [, username, replies] = AUTHOR_PATH.exec(plain) ?? []
  if (username !== undefined) {
    const name = replies === undefined ? 'author' : 'authorReplies'
    return { name, path: authorPath(username, name), username }
  }
  return PAGES_BY_PATH.get(plain.toLowerCase()) ?? null
}

/** Decodes a path. Returns '', which is the path of no page, if the path is malformed. */
function decode(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return ''
  }
}

export function cursorIn(query: string): string {
  return new URLSearchParams(query).get(CURSOR_PARAM) ?? ''
}

const OLDEST_FIRST = 'oldest-'

export function isOldestFirst(cursor: string): boolean {
  return cursor.startsWith(OLDEST_FIRST)
}

/** Returns the cursor that reads from the same place in the other direction. */
export function oppositeCursor(cursor: string): string {
  if (!isOldestFirst(cursor)) return `${OLDEST_FIRST}${BigInt(cursor) - 1n}`
  return `${BigInt(cursor.slice(OLDEST_FIRST.length)) + 1n}`
}

export function searchTextIn(query: string): string {
  return (new URLSearchParams(query).get(SEARCH_PARAM) ?? '').trim()
}

/** Returns the query for one page of a list; the API accepts no empty cursor. */
export function pageAfter(cursor: string, limit = PAGE_SIZE): { limit: number; cursor?: string } {
  return cursor === '' ? { limit } : { limit, cursor }
}

/** Returns the cursor with which a list by id, such as the wall, begins with this post. */
export function cursorAt(postId: string): string {
  return String(BigInt(postId) + 1n)
}

export const SEARCH_PAGES = ['search', 'searchOwn', 'searchLiked'] as const
export type SearchPageName = (typeof SEARCH_PAGES)[number]

export function searchPath(q: string, name: SearchPageName = 'search'): string {
  return q === '' ? PATHS[name] : `${PATHS[name]}?${new URLSearchParams({ [SEARCH_PARAM]: q })}`
}

/** What the page that stops reply mails shows, as its address has it. */
export type ReplyMailsState = { name: 'ask'; token: string } | { name: 'stopped' | 'invalid' }

export function replyMailsPath(state: ReplyMailsState): string {
  if (state.name === 'invalid') return PATHS.replyMails
  const query = state.name === 'ask' ? { [TOKEN_PARAM]: state.token } : { [STOPPED_PARAM]: '1' }
  return `${PATHS.replyMails}?${new URLSearchParams(query)}`
}

export function replyMailsIn(query: string): ReplyMailsState {
  const params = new URLSearchParams(query)
  const token = params.get(TOKEN_PARAM)
  if (token) return { name: 'ask', token }
  return { name: params.has(STOPPED_PARAM) ? 'stopped' : 'invalid' }
}

export function postPath(id: string): string {
  return PATHS.post.replace(':id', encodeURIComponent(id))
}

export function authorPath(username: string, list: 'author' | 'authorReplies' = 'author'): string {
  return PATHS[list].replace(':username', encodeURIComponent(username))
}

export const FEED_PATHS = {
  atom: '/feed.atom',
  json: '/feed.json',
  replies: '/posts/:id/replies.atom',
  author: '/users/:username/posts.atom',
  received: '/users/:username/received.atom',
} as const

export function feedPath(name: keyof typeof FEED_PATHS, about = ''): string {
  return FEED_PATHS[name].replace(/:\w+/, encodeURIComponent(about))
}

export function withCursor(url: string, cursor: string): string {
  if (cursor === '') return url
  return `${url}${url.includes('?') ? '&' : '?'}${new URLSearchParams({ [CURSOR_PARAM]: cursor })}`
}

export const TITLES = {
  wall: 'Стена',
  noPost: 'Запись не найдена',
  noAuthor: 'Автор не найден',
  noPage: 'Страница не существует',
} as const

export const REPLY_MAILS_TITLE = 'Письма об ответах'

export const EMPTY_LIST = {
  title: 'Записи не найдены',
  text: 'Возможно, записи скоро появятся',
} as const

export const SITE_DESCRIPTION = 'Стена коротких текстовых записей: читайте, пишите, отвечайте.'

export function pageTitle(title: string | undefined, appName: string): string {
  return title ? `${title} - ${appName}` : appName
}

/** The `Closed` fields hold the operator's reason; null means open. */
export type SiteState = {
  registrationsClosed: string | null
  isInviteOnly: boolean
  writingClosed: string | null
  /** A new notice has a new id, even with the same text. */
  notice: { id: string; text: string } | null
  /** The ids of users whose names are marked as moderators'; missing if there are none. */
  moderators?: string[]
  /** The former address of a wall that has moved within the last 90 days, the life of a session. */
  movedFrom?: string
  /** The day on which the wall ends, such as «31 января 2027»; set in the 30 days before it. */
  endsOn?: string
}

export const OPEN_SITE: SiteState = {
  registrationsClosed: null,
  isInviteOnly: false,
  writingClosed: null,
  notice: null,
}

export const INVITE_ONLY = 'Регистрация по приглашениям'

/** The words to mark in found posts, the ids of similar posts, and the message of a refusal. */
export type SearchState = {
  words: readonly string[]
  similar: readonly string[]
  refusal: string | null
}

/** The data from which the server renders a page and the browser hydrates it. */
export type FirstPage = {
  /** When the page was rendered, in unix seconds. */
  now: number
  site: SiteState
  /** Set if the data is stale, because a fresh read failed. */
  saved?: true
} & (
  | { shows: 'wall'; cursor: string; posts: PostPage }
  | {
      shows: 'post'
      post: Post
      /** Set if the replied post is itself a reply. */
      ancestors?: Ancestors
      cursor: string
      replies: PostPage
    }
  | {
      shows: 'author'
      author: Profile
      list: 'author' | 'authorReplies'
      cursor: string
      posts: PostPage
    }
  | { shows: 'search'; cursor: string; posts: PostPage; search: SearchState }
  | { shows: 'text'; name: TextName; text: SiteText }
  | { shows: 'reply mails' }
  /** `own` is a page for signed-in users; the server renders only the parts around its content. */
  | { shows: 'missing post' | 'missing author' | 'nothing' | 'own' }
)

export type PageSettings = { appName: string; editPeriodSeconds: number }

export type RenderPage = (path: string, first: FirstPage) => string

/** The tile of an author: a tone from 1 to 8, and its bricks of three strengths as SVG paths. */
export type Tile = { tone: number; pale: string; tinted: string; full: string }

export type ServerBuild = {
  createRenderer: (settings: PageSettings) => Promise<RenderPage>
  /** The parts of pictures for link previews. `mark` is an SVG path, 24 units wide and high. */
  pictureParts: { drawTile: (username: string) => Tile; mark: string }
}

/** The file of the build with the PageFrames as JSON. Its first dot keeps it from being served. */
export const PAGE_FRAMES_FILE = '.page-frames.json'

/** The HTML around what the server writes: a page's head follows `before`, its content `after`. */
export type PageFrames = {
  shell: { before: string; after: string }
  rendered: { before: string; after: string; end: string }
  /** CSP source expressions of the inline scripts and style sheets of all pages. */
  inlineHashes: { scripts: string[]; styles: string[] }
}

/** The name of the meta element with the SiteState as JSON, which an open site lacks. */
export const SITE_STATE_META = 'site-state'

export const FIRST_PAGE_ID = 'first-page'

/** The end of the tag that contains the FirstPage, and the beginning of its JSON. */
export const FIRST_PAGE_START = `id="${FIRST_PAGE_ID}">{`

/** Marks the FirstPage in the HTML of a page as stale. */
export function markStale(html: string): string {
  return html.replace(FIRST_PAGE_START, `${FIRST_PAGE_START}"saved":true,`)
}
