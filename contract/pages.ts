import type { Post, PostPage } from './posts.ts'
import type { SiteText, TextName } from './texts.ts'

/** The paths of the web app's pages. The server answers 404 at any other address. */
export const PATHS = {
  wall: '/',
  post: '/posts/:id',
  liked: '/liked',
  ownPosts: '/own/posts',
  ownReplies: '/own/replies',
  settings: '/settings',
  email: '/settings/account/email',
  username: '/settings/account/username',
  devices: '/settings/devices',
  deleteAccount: '/settings/account/delete',
  reports: '/settings/reports',
  emailUndo: '/email-undo',
  invitation: '/invitation',
  about: '/about',
  rules: '/rules',
  privacy: '/privacy',
  contacts: '/contacts',
} as const

/** The names of the site's texts, each of which has a path. */
export const TEXT_NAMES = ['about', 'rules', 'privacy', 'contacts'] as const satisfies TextName[]

/** The moderators' page, in no list of pages: the server answers 404 here too, and for moderators the web app shows it. */
export const MODERATION_PATH = '/moderation'

/** The parameter of the wall's and of a post's address that says after which post their list begins. */
const CURSOR_PARAM = 'cursor'

/** A page by its name, and the path that is the one spelling of its address. */
export type Page =
  | { name: 'post'; path: string; id: string }
  | { name: Exclude<keyof typeof PATHS, 'post'> | 'moderation'; path: string }

const POST_PATH = /^\/posts\/([^/]+)$/i
const PAGES_BY_PATH = new Map(
  Object.entries({ ...PATHS, moderation: MODERATION_PATH }).map(([name, path]) => {
    return [path as string, { name, path } as Page]
  }),
)

/**
 * Returns the page at a path, also where its letters are of another case or a slash follows; null where there is none. The
 * server, the browser and the service worker all ask here, so that they cannot disagree.
 */
export function pageAt(path: string): Page | null {
  const plain = decode(path)?.replace(/(?<=.)\/$/, '') ?? ''
  const id = POST_PATH.exec(plain)?.[1]
  if (id !== undefined) return { name: 'post', path: postPath(id), id }
  return PAGES_BY_PATH.get(plain.toLowerCase()) ?? null
}

/** Decodes the escapes of a path; null where one is malformed. */
function decode(path: string): string | null {
  try {
    return decodeURIComponent(path)
  } catch {
    return null
  }
}

/** Returns the cursor in the query of an address, which may begin with its question mark; null where it has none. */
export function cursorIn(query: string): string | null {
  return new URLSearchParams(query).get(CURSOR_PARAM) || null
}

/** The path of a post's page. */
export function postPath(id: string): string {
  return PATHS.post.replace(':id', encodeURIComponent(id))
}

/** The paths of the feeds: of the wall in two formats, and of the replies to a post. */
export const FEED_PATHS = {
  atom: '/feed.atom',
  json: '/feed.json',
  replies: '/posts/:id/replies.atom',
} as const

/** The path of the feed of the replies to a post. */
export function repliesFeedPath(postId: string): string {
  return FEED_PATHS.replies.replace(':id', encodeURIComponent(postId))
}

/** Returns the URL of a list that begins after the post which `cursor` names; the URL as it is without one. */
export function withCursor(url: string, cursor: string | null | undefined): string {
  if (cursor === null || cursor === undefined) return url
  return `${url}${url.includes('?') ? '&' : '?'}${new URLSearchParams({ [CURSOR_PARAM]: cursor })}`
}

/** Titles that the server writes into the HTML too, for crawlers and link previews. */
export const TITLES = {
  wall: 'Стена',
  noPost: 'Запись не найдена',
  noPage: 'Страница не существует',
} as const

/** The sentence about the site in the head of its pages. */
export const SITE_DESCRIPTION = 'Стена коротких текстовых записей: читайте, пишите, отвечайте.'

/** Returns the title of a browser tab: '{title} - {app name}', or the app name alone for a page without a title. */
export function pageTitle(title: string | undefined, appName: string): string {
  return title ? `${title} - ${appName}` : appName
}

/** What the operator has closed, with the reason that people are told; null where it is open. */
export type SiteState = { registrationsClosed: string | null; writingClosed: string | null }

/** What a page shows a visitor: it is rendered from this on the server, and hydrated with it in the browser. */
export type FirstPage = {
  /** When it was rendered, in unix seconds. */
  now: number
  site: SiteState
  /** Set where it was saved earlier, by the server or the service worker, and could not be read anew. */
  saved?: true
} & (
  | { shows: 'wall'; cursor: string | null; posts: PostPage }
  | { shows: 'post'; post: Post; cursor: string | null; replies: PostPage }
  | { shows: 'text'; name: TextName; text: SiteText }
  | { shows: 'missing post' }
  | { shows: 'nothing' }
)

/** The operator's settings that pages need. */
export type PageSettings = { appName: string; editPeriodSeconds: number }

/** Returns the HTML of the app for a visitor at a path, with its query, of this site. */
export type RenderPage = (path: string, first: FirstPage) => string

/** The exports of the web app's build for the server. */
export type ServerBuild = { createRenderer: (settings: PageSettings) => Promise<RenderPage> }

/** The file of the web app's build that holds its PageFrames as JSON. A name with a dot is not served. */
export const PAGE_FRAMES_FILE = '.page-frames.json'

/** The HTML around what the server writes into a page. The head of the page stands between `before` and `after`. */
export type PageFrames = {
  /** The page that the browser fills. */
  shell: { before: string; after: string }
  /** The page that the server renders: its content stands between `after` and `end`. */
  rendered: { before: string; after: string; end: string }
  /** CSP source expressions of the inline scripts and style sheets of all pages. */
  inlineHashes: { scripts: string[]; styles: string[] }
}

/** The name of the meta element whose content is the SiteState as JSON, where something is closed. */
export const SITE_STATE_META = 'site-state'

/** The id of the element whose text is the page's FirstPage as JSON. */
export const FIRST_PAGE_ID = 'first-page'

/** How the data of a page begins, as the end of its element's tag and the start of an object. */
export const FIRST_PAGE_START = `id="${FIRST_PAGE_ID}">{`

/** Returns a page's HTML whose data says that the page was saved. */
export function markSaved(html: string): string {
  return html.replace(FIRST_PAGE_START, `${FIRST_PAGE_START}"saved":true,`)
}
