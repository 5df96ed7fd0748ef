import { ADDRESS_OR_NAME, namedBy } from '../../contract/mention-rules.ts'
import { authorPath, postPath } from '../../contract/pages.ts'
import { CLARIFIES, changedAt, clarifiedText, postTitle } from '../../contract/post-rules.ts'
import type { Post } from '../../contract/posts.ts'
import { isoTime } from '../../contract/universal-time.ts'
import { escapeXml } from '../kernel/http/escape.ts'

/** One page of a feed. All URLs are absolute. */
export type Feed = {
  title: string
  /** The id of the feed, and with what the ids of its posts begin. */
  id: string
  idBase: string
  url: string
  nextUrl: string | null
  pageUrl: string
  note: string
  /** When the feed began, in unix seconds. */
  since: number
  posts: Post[]
}

const XHTML = 'http://www.w3.org/1999/xhtml'
const FOR_PEOPLE =
  'Это лента для программ чтения: скопируйте её адрес в свою программу, и новые записи придут туда. '

/** Returns a feed as Atom (RFC 4287) with pages (RFC 5005). Browsers style it with /feed.css. */
export function toAtom(feed: Feed, origin: string): string {
  const { title, id, url, nextUrl, pageUrl, note, posts } = feed
  const updated = Math.max(feed.since, ...posts.map(changedAt))
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<?xml-stylesheet type="text/css" href="/feed.css"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="ru">',
    element('id', id),
    element('title', title),
    element('updated', isoTime(updated)),
    element('icon', `${origin}/icon-512.png`),
    link('self', url, 'application/atom+xml'),
    link('alternate', pageUrl, 'text/html'),
    nextUrl === null ? '' : link('next', nextUrl, 'application/atom+xml'),
    // Feed readers ignore elements that are not Atom.
    `<p xmlns="${XHTML}">${FOR_PEOPLE}${note}<a href="${escapeXml(pageUrl)}">Читать на сайте</a></p>`,
    ...posts.map((post) => atomEntry(post, feed, origin)),
    '</feed>',
  ].join('')
}

function atomEntry(post: Post, { idBase }: Feed, origin: string): string {
  const url = origin + postPath(post.id)
  // XHTML, because readers drop the line feeds of plain text, and browsers show the tags of HTML.
  const html = htmlOf(post, origin)
  return [
    '<entry>',
    element('id', idBase + postPath(post.id)),
    element('title', postTitle(post)),
    element('updated', isoTime(changedAt(post))),
    element('published', isoTime(post.created_at)),
    `<author>${element('name', post.owner.username)}</author>`,
    link('alternate', url, 'text/html'),
    `<content type="xhtml"><div xmlns="${XHTML}">${html}</div></content>`,
    '</entry>',
  ].join('')
}

/** Returns what a feed shows of a post and its clarification. */
function htmlOf(post: Post, origin: string): string {
  const { clarification } = post
  const text = linkedText(post, origin)
  if (!clarification) return text
  return `${text}<br/><br/>${CLARIFIES}: ${linkedText(clarification, origin)}`
}

/** Returns a text with links to the pages of those whom it mentions. */
function linkedText(post: Pick<Post, 'text' | 'mentions'>, origin: string): string {
  const lines = (text: string) => text.split('\n').map(escapeXml).join('<br/>')
  let html = ''
  let from = 0
  for (const { 0: written, index, groups } of post.text.matchAll(ADDRESS_OR_NAME)) {
    const username = groups?.name && namedBy(post, groups.name)
    if (!username) continue
    const link = `<a href="${escapeXml(origin + authorPath(username))}">${written}</a>`
    html += lines(post.text.slice(from, index)) + link
    from = index + written.length
  }
  return html + lines(post.text.slice(from))
}

/** Returns a feed as JSON Feed 1.1. */
export function toJsonFeed(feed: Feed, origin: string): string {
  const { title, idBase, url, nextUrl, pageUrl, posts } = feed
  return JSON.stringify({
    version: 'https://jsonfeed.org/version/1.1',
    title,
    home_page_url: pageUrl,
    feed_url: url,
    ...(nextUrl !== null && { next_url: nextUrl }),
    icon: `${origin}/icon-512.png`,
    language: 'ru',
    items: posts.map((post) => ({
      id: idBase + postPath(post.id),
      url: origin + postPath(post.id),
      content_text: clarifiedText(post),
      ...((post.mentions || post.clarification?.mentions) && {
        content_html: htmlOf(post, origin),
      }),
      date_published: isoTime(post.created_at),
      ...(changedAt(post) > post.created_at && { date_modified: isoTime(changedAt(post)) }),
      authors: [{ name: post.owner.username }],
    })),
  })
}

function element(name: string, text: string): string {
  return `<${name}>${escapeXml(text)}</${name}>`
}

function link(rel: string, href: string, type: string): string {
  return `<link rel="${rel}" type="${type}" href="${escapeXml(href)}"/>`
}
