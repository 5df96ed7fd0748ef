import { createHash } from 'node:crypto'
import {
  authorFeedPath,
  authorPath,
  FEED_PATHS,
  pageTitle,
  postPath,
  repliesFeedPath,
  SITE_DESCRIPTION,
  SITE_STATE_META,
  type SiteState,
  TITLES,
} from '../../contract/pages.ts'
import { excerpt, postTitle } from '../../contract/post-rules.ts'
import type { Post } from '../../contract/posts.ts'
import type { Profile } from '../../contract/profiles.ts'
import { escapeHtml, escapeJson } from '../kernel/http/escape.ts'

/** What a page shows: `own` is what a visitor sees nothing of, `other` what could not be read. */
export type Shown = 'own' | 'other' | 'wall' | Post | Profile | TextPage | Missing
export type Missing = 'no post' | 'no author' | 'nothing'

type TextPage = { title: string; isIndexed?: false | undefined }

type Site = {
  appName: string
  /** The public origin, without which a preview has neither an address nor a picture. */
  publicUrl: string | undefined
}

type Preview = {
  title: string
  text: string
  type: 'website' | 'article' | 'profile'
  path: string
  /** The default is that of the wall. */
  picture?: { path: string; alt: string } | undefined
}

/** Says that the request for the page carried no session cookie. */
export const VISITOR_META = meta('session', 'none')
const NOT_INDEXED = meta('robots', 'noindex')

function isoDate(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}

/** About as much as search engines show. */
const DESCRIPTION_MAX = 160
/** Enough for the whole text of most posts. */
const PREVIEW_MAX = 300
/** The picture of link previews, in web/public. */
const PICTURE = { path: '/preview.png', alt: 'Вслух: стена коротких текстовых записей' }

/** Returns the part of the head that depends on what a page shows, for crawlers and previews. */
export function headOf(shown: Shown, site: Site): string {
  if (shown === 'own') return headOf('other', site) + NOT_INDEXED
  if (shown === 'other') return title(undefined, site) + meta('description', SITE_DESCRIPTION)
  if (shown === 'no post') return title(TITLES.noPost, site)
  if (shown === 'no author') return title(TITLES.noAuthor, site)
  if (shown === 'nothing') return title(TITLES.noPage, site)
  if (shown === 'wall') return wallHead(site)
  if ('title' in shown) {
    const description = meta('description', SITE_DESCRIPTION)
    return title(shown.title, site) + description + (shown.isIndexed === false ? NOT_INDEXED : '')
  }
  return 'username' in shown ? authorHead(shown, site) : postHead(shown, site)
}

function wallHead(site: Site): string {
  return (
    title(TITLES.wall, site) +
    meta('description', SITE_DESCRIPTION) +
    preview({ title: site.appName, text: SITE_DESCRIPTION, type: 'website', path: '/' }, site) +
    feedLink('application/atom+xml', FEED_PATHS.atom) +
    feedLink('application/feed+json', FEED_PATHS.json)
  )
}

function authorHead({ username }: Profile, site: Site): string {
  const text = `Записи и ответы автора ${username}`
  return (
    title(username, site) +
    meta('description', text) +
    preview({ title: username, text, type: 'profile', path: authorPath(username) }, site) +
    feedLink('application/atom+xml', authorFeedPath(username))
  )
}

function postHead(post: Post, site: Site): string {
  const { text, owner, created_at, modified_at } = post
  const path = `/posts/${post.id}`
  const drawn = picturePath(post, site.appName)
  const picture = drawn === undefined ? undefined : { path: drawn, alt: postTitle(post) }
  return (
    title(postTitle(post), site) +
    meta('description', excerpt(text, DESCRIPTION_MAX)) +
    meta('author', owner.username) +
    preview(
      { title: owner.username, text: excerpt(text, PREVIEW_MAX), type: 'article', path, picture },
      site,
    ) +
    property('article:published_time', isoDate(created_at)) +
    (modified_at ? property('article:modified_time', isoDate(modified_at)) : '') +
    feedLink('application/atom+xml', repliesFeedPath(post.id)) +
    structuredData(post, site.publicUrl)
  )
}

/** The element that tells the empty page what is closed and announced, if anything is. */
export function siteStateMeta(site: SiteState): string {
  if (Object.values(site).every((part) => !part)) return ''
  return `<meta name="${SITE_STATE_META}" content="${escapeHtml(JSON.stringify(site))}">`
}

function title(pageName: string | undefined, { appName }: Site): string {
  return `<title>${escapeHtml(pageTitle(pageName, appName))}</title>`
}

function preview(
  { title, text, type, path, picture = PICTURE }: Preview,
  { appName, publicUrl }: Site,
): string {
  const about =
    property('og:type', type) +
    property('og:site_name', appName) +
    property('og:locale', 'ru_RU') +
    property('og:title', title) +
    property('og:description', text) +
    meta('twitter:card', 'summary_large_image')
  if (!publicUrl) return about
  const address = publicUrl + path
  return (
    about +
    property('og:url', address) +
    property('og:image', publicUrl + picture.path) +
    property('og:image:width', '1200') +
    property('og:image:height', '630') +
    property('og:image:alt', picture.alt) +
    `<link rel="canonical" href="${escapeHtml(address)}">`
  )
}

function feedLink(type: string, path: string): string {
  return `<link rel="alternate" type="${type}" href="${path}">`
}

function meta(name: string, content: string): string {
  return `<meta name="${name}" content="${escapeHtml(content)}">`
}

function property(name: string, content: string): string {
  return `<meta property="${name}" content="${escapeHtml(content)}">`
}

/**
 * Returns the JSON-LD of a post, as search engines describe it for forums:
 * https://developers.google.com/search/docs/appearance/structured-data/discussion-forum
 */
export function structuredData(post: Post, publicUrl: string | undefined): string {
  const { text, owner, created_at, modified_at, actions } = post
  const description = {
    '@context': 'https://schema.org',
    '@type': 'DiscussionForumPosting',
    ...(publicUrl && { url: publicUrl + postPath(post.id) }),
    text,
    author: {
      '@type': 'Person',
      name: owner.username,
      ...(publicUrl && { url: publicUrl + authorPath(owner.username) }),
    },
    datePublished: isoDate(created_at),
    ...(modified_at && { dateModified: isoDate(modified_at) }),
    commentCount: actions.replies_count,
    interactionStatistic: {
      '@type': 'InteractionCounter',
      interactionType: 'https://schema.org/LikeAction',
      userInteractionCount: actions.likes_count,
    },
  }
  return `<script type="application/ld+json">${escapeJson(description)}</script>`
}

export const PICTURE_PATH = `${postPath('')}:id/picture.png`
/** Counts the changes of how pictures look. */
const DESIGN = 1
/** Of Europe, the Caucasus and the Near East, as the fonts of paint-post.ts have them. */
const LETTERS = String.raw`\u00a0-\u02e9\u0300-\u034f\u0370-\u0377\u0384-\u0525\u0531-\u055f\u0561-\u0586\u05b0-\u05c3\u05d0-\u05ea\u0621-\u063a\u0640-\u0655\u0660-\u0670\u0679-\u06bf\u06cc\u06f0-\u06f9\u10d0-\u10fa\u1e00-\u1efb`
const SYMBOLS = String.raw`\u060c\u061b\u061f\u2000-\u2064\u20a0-\u20b5\u20b8-\u20ba\u20bd\u2116-\u2122\u2190-\u2311\u2500-\u2638`
const DRAWN = new RegExp(
  `^(?!.*👪)[\\n -~${LETTERS}${SYMBOLS}\\p{Emoji}\\p{Emoji_Component}]*$`,
  'u',
)

/** Returns whether the fonts have every letter of the post. */
export function isDrawn({ text }: Post): boolean {
  return DRAWN.test(text)
}

/** Returns where the picture of a post is; undefined if the fonts lack a letter of it. */
function picturePath(post: Post, appName: string): string | undefined {
  if (!isDrawn(post)) return undefined
  return `${PICTURE_PATH.replace(':id', post.id)}?v=${pictureTag(post, appName)}`
}

/** Names what a picture shows, so that an edited post has another address for whoever keeps it. */
export function pictureTag({ text, owner }: Post, appName: string): string {
  const shown = JSON.stringify([DESIGN, text, owner.username, appName])
  return createHash('sha1').update(shown).digest('base64url').slice(0, 12)
}
