import { PAGE_SIZE } from './constants.ts'
import type { Post, PostPage } from './posts.ts'
import type { Profile } from './profiles.ts'
import type { Ancestors } from './replies.ts'
import type { SiteText, TextName } from './texts.ts'

/** The web app's pages, each a route of the server. */
export const PATHS = {
  wall: '/',
  post: '/posts/:id',
  author: '/users/:username',
  authorReplies: '/users/:username/replies',
  liked: '/liked',
  ownPosts: '/own/posts',
  ownReplies: '/own/replies',
  received: '/replies',
  search: '/search',
  settings: '/settings',
  email: '/settings/account/email',
  username: '/settings/account/username',
  devices: '/settings/devices',
  deleteAccount: '/settings/account/delete',
  reports: '/settings/reports',
  hidden: '/settings/hidden',
  emailUndo: '/email-undo',
  invitation: '/invitation',
  about: '/about',
  rules: '/rules',
  privacy: '/privacy',
  consent: '/consent',
  contacts: '/contacts',
} as const

export const TEXT_NAMES = [
  'about',
  'rules',
  'privacy',
  'consent',
  'contacts',
] as const satisfies TextName[]

/** The server answers 404 here too; the web app shows moderators the page. */
export const MODERATION_PATH = '/moderation'

/** The parameter of an address that says after which post a list begins; '' is its first page. */
const CURSOR_PARAM = 'cursor'
/** The parameter of an address that says what is searched for, and the name of the form's field. */
export const SEARCH_PARAM = 'q'

/** A page by its name, and the path that is the one spelling of its address. */
export type Page =
  | { name: 'post'; path: string; id: string }
  | { name: 'author' | 'authorReplies'; path: string; username: string }
  | { name: Exclude<keyof typeof PATHS, PathsWithParameter> | 'moderation'; path: string }
type PathsWithParameter = 'post' | 'author' | 'authorReplies'

const POST_PATH = /^\/posts\/([^/]+)$/i
const AUTHOR_PATH = /^\/users\/([^/]+)(\/replies)?$/i
const PAGES_BY_PATH = new Map(
  Object.entries({ ...PATHS, moderation: MODERATION_PATH }).map(([name, path]) => {
    return [path as string, { name, path } as Page]
  }),
)

const FOR_USERS = /^\/(?:liked|own|replies|settings)(?:\/|$)/

/** Whether only signed-in users see the page. */
export function isForUsers({ path }: Page): boolean {
  return FOR_USERS.test(path)
}

/**
 * Returns the page at a path, in whatever spelling; null where there is none. Server, browser and
 * service worker all ask here.
 */
export function pageAt(path: string): Page | null {
  const plain = decode(path).replace(/(?<=.)\/$/, '')
  const id = POST_PATH.exec(plain)?.[1]
  if (id !== undefined) return { name: 'post', path: postPath(id), id }
  const [, username, replies] = AUTHOR_PATH.exec(plain) ?? []
  if (username !== undefined) {
    const name = replies === undefined ? 'author' : 'authorReplies'
    return { name, path: authorPath(username, name), username }
  }
  return PAGES_BY_PATH.get(plain.toLowerCase()) ?? null
}

/** Returns '', which is the path of no page, for what cannot be decoded. */
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

/** Whether a list goes on from this cursor with newer posts. */
export function isOldestFirst(cursor: string): boolean {
  return cursor.startsWith(OLDEST_FIRST)
}

/** The cursor that reads the posts on the other side of this one, away from it. */
export function oppositeCursor(cursor: string): string {
  if (!isOldestFirst(cursor)) return `${OLDEST_FIRST}${BigInt(cursor) - 1n}`
  return `${BigInt(cursor.slice(OLDEST_FIRST.length)) + 1n}`
}

export function searchIn(query: string): string {
  return (new URLSearchParams(query).get(SEARCH_PARAM) ?? '').trim()
}

/** The query of a call for the page of a list: the API takes no empty cursor. */
export function pageAfter(cursor: string, limit = PAGE_SIZE): { limit: number; cursor?: string } {
  return cursor === '' ? { limit } : { limit, cursor }
}

/** The cursor of a list by id, such as the wall, that begins with this post. */
export function cursorAt(postId: string): string {
  return String(BigInt(postId) + 1n)
}

export function searchPath(q: string): string {
  return q === '' ? PATHS.search : `${PATHS.search}?${new URLSearchParams({ [SEARCH_PARAM]: q })}`
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
} as const

export function repliesFeedPath(postId: string): string {
  return FEED_PATHS.replies.replace(':id', encodeURIComponent(postId))
}

export function authorFeedPath(username: string): string {
  return FEED_PATHS.author.replace(':username', encodeURIComponent(username))
}

export function withCursor(url: string, cursor: string): string {
  if (cursor === '') return url
  return `${url}${url.includes('?') ? '&' : '?'}${new URLSearchParams({ [CURSOR_PARAM]: cursor })}`
}

/** Titles that the server writes into the HTML too, for crawlers and link previews. */
export const TITLES = {
  wall: 'Стена',
  noPost: 'Запись не найдена',
  noAuthor: 'Автор не найден',
  noPage: 'Страница не существует',
} as const

/** What every list of posts says when it is empty. */
export const EMPTY_LIST = {
  title: 'Записи не найдены',
  text: 'Возможно, записи скоро появятся',
} as const

export const SITE_DESCRIPTION = 'Стена коротких текстовых записей: читайте, пишите, отвечайте.'

/** Returns '{title} - {app name}', or the app name alone for a page without a title. */
export function pageTitle(title: string | undefined, appName: string): string {
  return title ? `${title} - ${appName}` : appName
}

/** What the operator has closed, with the reason that people are told; null where it is open. */
export type SiteState = {
  registrationsClosed: string | null
  /** Whether the open registrations are for the invited alone. */
  isInviteOnly: boolean
  writingClosed: string | null
  /** What the operator tells everybody. Its id tells it from any other, also of the same text. */
  notice: { id: string; text: string } | null
}

export const OPEN_SITE: SiteState = {
  registrationsClosed: null,
  isInviteOnly: false,
  writingClosed: null,
  notice: null,
}

export const INVITE_ONLY = 'Регистрация по приглашениям'

/** The words to mark in what was found and the ids of similar posts, or why nothing was looked for. */
export type SearchState = {
  words: readonly string[]
  similar: readonly string[]
  refusal: string | null
}

/** What a page is rendered from on the server, and hydrated with in the browser. */
export type FirstPage = {
  /** When it was rendered, in unix seconds. */
  now: number
  site: SiteState
  /** Set where it was saved earlier and could not be read anew. */
  saved?: true
  /** Set where the page has its texts as plain HTML, since the server was too busy to render it. */
  plain?: true
} & (
  | { shows: 'wall'; cursor: string; posts: PostPage }
  | {
      shows: 'post'
      post: Post
      /** Where more posts stand above it than the one that it replies to. */
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
  | { shows: 'missing post' }
  | { shows: 'missing author' }
  | { shows: 'nothing' }
  /** What surrounds a page of which a visitor sees nothing. */
  | { shows: 'own' }
)

export type PageSettings = { appName: string; editPeriodSeconds: number }

/** Returns the HTML of the app at a path with its query. */
export type RenderPage = (path: string, first: FirstPage) => string

/** The tile of an author: a tone from 1 to 8, and its bricks of three strengths as SVG paths. */
export type Tile = { tone: number; pale: string; tinted: string; full: string }

export type ServerBuild = {
  createRenderer: (settings: PageSettings) => Promise<RenderPage>
  /** What the server paints into pictures; the mark is an SVG path, 24 wide and high. */
  pictureParts: { drawTile: (username: string) => Tile; mark: string }
}

/** The file of the build with the PageFrames as JSON. A name with a dot is not served. */
export const PAGE_FRAMES_FILE = '.page-frames.json'

/** The HTML around what the server writes: the head of a page, which follows `before`. */
export type PageFrames = {
  /** The page that the browser fills. */
  shell: { before: string; after: string }
  /** The page that the server renders, with its content before `end`. */
  rendered: { before: string; after: string; end: string }
  /** Source expressions of the inline scripts and style sheets, for the policy of all pages. */
  inlineHashes: { scripts: string[]; styles: string[] }
}

/** The meta element with the SiteState as JSON, where it is not that of an open site. */
export const SITE_STATE_META = 'site-state'

export const FIRST_PAGE_ID = 'first-page'

/** How the element with the FirstPage as JSON begins: with the end of its tag. */
export const FIRST_PAGE_START = `id="${FIRST_PAGE_ID}">{`

export function markSaved(html: string): string {
  return html.replace(FIRST_PAGE_START, `${FIRST_PAGE_START}"saved":true,`)
}
