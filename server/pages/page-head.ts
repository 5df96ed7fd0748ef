import { hash } from 'node:crypto'
import type { Profile } from '../../contract/account.ts'
import {
  authorPath,
  type FirstPage,
  feedPath,
  pageTitle,
  postPath,
  REPLY_MAILS_TITLE,
  SITE_DESCRIPTION,
  SITE_STATE_META,
  type SiteState,
  searchTextIn,
  TITLES,
} from '../../contract/pages.ts'
import { changedAt, clarifiedText, excerpt, postTitle } from '../../contract/post-rules.ts'
import type { Post } from '../../contract/posts.ts'
import { searchTitle } from '../../contract/search-rules.ts'
import { isoTime } from '../../contract/universal-time.ts'
import { escapeHtml, escapeJson } from '../kernel/http/escape.ts'

export type MissingContent = 'missing post' | 'missing author' | 'nothing'
/** A page without data: `own` has no public content, `other` could not be read. */
export type BarePage = 'own' | 'other' | MissingContent

type Site = {
  appName: string
  /** If it is undefined, previews have no URL and no picture. */
  publicUrl: string | undefined
  /** With what the ids of posts begin; see `storeAddresses`. */
  idBase: string
}

type Preview = {
  title: string
  text: string
  type: 'website' | 'article' | 'profile'
  path: string
  picture?: typeof PICTURE
}

/** Marks a page whose request carried no session cookie. */
export const VISITOR_META = meta('session', 'none')
const DESCRIPTION = meta('description', SITE_DESCRIPTION)
const NOT_INDEXED = meta('robots', 'noindex')
const MISSING_TITLES: Record<MissingContent, string> = {
  'missing post': TITLES.noPost,
  'missing author': TITLES.noAuthor,
  nothing: TITLES.noPage,
}

const DESCRIPTION_MAX = 160
const PREVIEW_MAX = 300
const PICTURE = { path: '/preview.png', alt: 'Вслух: стена коротких текстовых записей' }

/** Returns the part of the head that depends on what a page shows, for crawlers and previews. */
export function headOf(shown: FirstPage | { shows: BarePage }, site: Site, url = ''): string {
  if (shown.shows === 'wall') return wallHead(site)
  if (shown.shows === 'post') return postHead(shown.post, site)
  if (shown.shows === 'author') return authorHead(shown.author, site)
  if (shown.shows === 'text') return title(shown.text.title, site) + DESCRIPTION
  if (shown.shows === 'search') {
    const [, query = ''] = url.split('?')
    return title(searchTitle(searchTextIn(query)), site) + DESCRIPTION + NOT_INDEXED
  }
  if (shown.shows === 'reply mails') {
    return title(REPLY_MAILS_TITLE, site) + DESCRIPTION + NOT_INDEXED
  }
  if (shown.shows === 'own') return title(undefined, site) + DESCRIPTION + NOT_INDEXED
  if (shown.shows === 'other') return title(undefined, site) + DESCRIPTION
  return title(MISSING_TITLES[shown.shows], site)
}

function wallHead(site: Site): string {
  return (
    title(TITLES.wall, site) +
    DESCRIPTION +
    preview({ title: site.appName, text: SITE_DESCRIPTION, type: 'website', path: '/' }, site) +
    feedLink('application/atom+xml', feedPath('atom')) +
    feedLink('application/feed+json', feedPath('json'))
  )
}

function authorHead({ username }: Profile, site: Site): string {
  const text = `Записи и ответы автора ${username}`
  return (
    title(username, site) +
    meta('description', text) +
    preview({ title: username, text, type: 'profile', path: authorPath(username) }, site) +
    feedLink('application/atom+xml', feedPath('author', username))
  )
}

function postHead(post: Post, site: Site): string {
  const { owner, created_at } = post
  const text = clarifiedText(post)
  const path = postPath(post.id)
  const picturePath = `${PICTURE_PATH.replace(':id', post.id)}?v=${pictureTag(post, site.appName)}`
  const picture = isDrawable(post) ? { path: picturePath, alt: postTitle(post) } : PICTURE
  return (
    title(postTitle(post), site) +
    meta('description', excerpt(text, DESCRIPTION_MAX)) +
    meta('author', owner.username) +
    preview(
      { title: owner.username, text: excerpt(text, PREVIEW_MAX), type: 'article', path, picture },
      site,
    ) +
    meta('article:published_time', isoTime(created_at)) +
    (isChanged(post) ? meta('article:modified_time', isoTime(changedAt(post))) : '') +
    feedLink('application/atom+xml', feedPath('replies', post.id)) +
    structuredData(post, site)
  )
}

/** Returns the meta element with the site's state; '' for an open site without a notice. */
export function siteStateMeta(site: SiteState): string {
  if (Object.values(site).every((part) => !part)) return ''
  return meta(SITE_STATE_META, JSON.stringify(site))
}

function title(pageName: string | undefined, { appName }: Site): string {
  return `<title>${escapeHtml(pageTitle(pageName, appName))}</title>`
}

function preview(
  { title, text, type, path, picture = PICTURE }: Preview,
  { appName, publicUrl }: Site,
): string {
  const about =
    meta('og:type', type) +
    meta('og:site_name', appName) +
    meta('og:locale', 'ru_RU') +
    meta('og:title', title) +
    meta('og:description', text) +
    meta('twitter:card', 'summary_large_image')
  if (!publicUrl) return about
  const address = publicUrl + path
  return (
    about +
    meta('og:url', address) +
    meta('og:image', publicUrl + picture.path) +
    meta('og:image:width', '1200') +
    meta('og:image:height', '630') +
    meta('og:image:alt', picture.alt) +
    `<link rel="canonical" href="${escapeHtml(address)}">`
  )
}

function feedLink(type: string, path: string): string {
  return `<link rel="alternate" type="${type}" href="${path}">`
}

/** Returns a meta element. Open Graph names, such as og:title, use the attribute `property`. */
function meta(name: string, content: string): string {
  const attribute = name.startsWith('og:') || name.startsWith('article:') ? 'property' : 'name'
  return `<meta ${attribute}="${name}" content="${escapeHtml(content)}">`
}

/** @see https://developers.google.com/search/docs/appearance/structured-data/discussion-forum */
export function structuredData(post: Post, { publicUrl, idBase }: Omit<Site, 'appName'>): string {
  const { text, owner, created_at, actions, clarification } = post
  const personOf = (username: string) => ({
    '@type': 'Person',
    name: username,
    ...(publicUrl && { url: publicUrl + authorPath(username) }),
  })
  const author = personOf(owner.username)
  const mentionsOf = ({ mentions = [] }: Pick<Post, 'mentions'>) => {
    const names = new Set(mentions.map(({ username }) => username))
    return names.size > 0 && { mentions: [...names].map(personOf) }
  }
  const description = {
    '@context': 'https://schema.org',
    '@type': 'DiscussionForumPosting',
    '@id': idBase + postPath(post.id),
    ...(publicUrl && { url: publicUrl + postPath(post.id) }),
    text,
    author,
    ...mentionsOf(post),
    datePublished: isoTime(created_at),
    ...(isChanged(post) && { dateModified: isoTime(changedAt(post)) }),
    commentCount: actions.replies_count,
    interactionStatistic: {
      '@type': 'InteractionCounter',
      interactionType: 'https://schema.org/LikeAction',
      userInteractionCount: actions.likes_count,
    },
    ...(clarification && {
      comment: {
        '@type': 'Comment',
        ...(publicUrl && { url: publicUrl + postPath(clarification.id) }),
        text: clarification.text,
        author,
        ...mentionsOf(clarification),
        datePublished: isoTime(clarification.created_at),
      },
    }),
  }
  return `<script type="application/ld+json">${escapeJson(description)}</script>`
}

function isChanged(post: Post): boolean {
  return changedAt(post) > post.created_at
}

export const PICTURE_PATH = `${postPath('')}:id/picture.png`
/** The version of the pictures' design; a new version gives all pictures new URLs. */
const DESIGN = 1
/** The letters of Europe, the Caucasus and the Near East that the fonts of paint-post.ts have. */
const LETTERS = String.raw`\u00a0-\u02e9\u0300-\u034f\u0370-\u0377\u0384-\u0525\u0531-\u055f\u0561-\u0586\u05b0-\u05c3\u05d0-\u05ea\u0621-\u063a\u0640-\u0655\u0660-\u0670\u0679-\u06bf\u06cc\u06f0-\u06f9\u10d0-\u10fa\u1e00-\u1efb`
const SYMBOLS = String.raw`\u060c\u061b\u061f\u2000-\u2064\u20a0-\u20b5\u20b8-\u20ba\u20bd\u2116-\u2122\u2190-\u2311\u2500-\u2638`
const DRAWABLE = new RegExp(
  `^(?!.*👪)[\\n -~${LETTERS}${SYMBOLS}\\p{Emoji}\\p{Emoji_Component}]*$`,
  'u',
)

/** Whether the fonts of the pictures have every character of the post. */
export function isDrawable(post: Post): boolean {
  return DRAWABLE.test(pictureText(post))
}

/** The most characters of a post and of its clarification in one picture. */
const [CLARIFIED_MAX, CLARIFICATION_MAX] = [260, 220]

/** Returns what the picture of a post states. A long text leaves room for its clarification. */
export function pictureText({ text, clarification }: Post): string {
  if (!clarification) return text
  const parts = { text, clarification: { ...clarification } }
  if ([...clarifiedText(parts)].length > CLARIFIED_MAX + CLARIFICATION_MAX) {
    parts.text = excerpt(text, CLARIFIED_MAX)
    parts.clarification.text = excerpt(clarification.text, CLARIFICATION_MAX)
  }
  return clarifiedText(parts)
}

/** Returns a hash of what a picture shows, so that an edited post gets a new picture URL. */
export function pictureTag(post: Post, appName: string): string {
  const shown = JSON.stringify([DESIGN, pictureText(post), post.owner.username, appName])
  return hash('sha1', shown, 'base64url').slice(0, 12)
}
