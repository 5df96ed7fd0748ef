import {
  authorPath,
  EMPTY_LIST,
  type FirstPage,
  PATHS,
  postPath,
  SEARCH_PARAM,
  searchIn,
  TITLES,
  withCursor,
} from '../../contract/pages.ts'
import { threadTitle } from '../../contract/post-rules.ts'
import type { Post, PostPage, RepliedPost } from '../../contract/posts.ts'
import { SIMILAR_LINE } from '../../contract/search-rules.ts'
import { isoTime, universalTime } from '../../contract/universal-time.ts'
import { escapeHtml } from '../kernel/http/escape.ts'

/** Returns a page's texts and links as plain HTML, fifty times faster than a rendering. */
export function plainPage(url: string, first: FirstPage): string {
  const [path = '', query = ''] = url.split('?')
  return `<main data-plain><p>${link(PATHS.wall, 'На стену')}</p>${content(first, path, query)}</main>`
}

function content(first: FirstPage, path: string, query: string): string {
  if (first.shows === 'wall') return heading(TITLES.wall) + list(first.posts, path)
  if (first.shows === 'author') return heading(first.author.username) + list(first.posts, path)
  if (first.shows === 'post') {
    const { post, ancestors, replies } = first
    const above = ancestors?.posts.map((it) => article(it)).join('') ?? ''
    const own = above + heading(threadTitle(post)) + article(post, !ancestors)
    return `${own}<h2>Ответы</h2>${list(replies, path, { hasQuotes: false })}`
  }
  if (first.shows === 'search') {
    const { similar, refusal } = first.search
    const asked = searchIn(query)
    const field = `<input type="search" name="${SEARCH_PARAM}" value="${escapeHtml(asked)}" aria-label="Поиск">`
    const form = `<form role="search" action="${PATHS.search}">${field}</form>`
    if (asked === '') return heading('Поиск') + form
    const at = `${path}?${new URLSearchParams({ [SEARCH_PARAM]: asked })}`
    const rest =
      refusal === null
        ? list(first.posts, at, { similarAt: similar[0] })
        : `<p>${escapeHtml(refusal)}</p>`
    return heading('Поиск') + form + rest
  }
  return first.shows === 'text' ? heading(first.text.title) + first.text.html : ''
}

type ListLook = { hasQuotes?: boolean; similarAt?: string | undefined }

/** Returns one page of a list, with the link to the next page. */
function list({ posts, nextCursor }: PostPage, path: string, look: ListLook = {}): string {
  if (posts.length === 0) return `<p>${EMPTY_LIST.title}</p><p>${EMPTY_LIST.text}</p>`
  const line = (post: Post) => (post.id === look.similarAt ? `<p>${SIMILAR_LINE}</p>` : '')
  const item = (post: Post) => `<li>${line(post)}${article(post, look.hasQuotes)}</li>`
  const next = nextCursor === null ? '' : `<p>${link(withCursor(path, nextCursor), 'Дальше')}</p>`
  return `<ul>${posts.map(item).join('')}</ul>${next}`
}

function article(post: Post, hasQuote = true): string {
  const { owner, created_at, is_modified, actions } = post
  const shown = `<time datetime="${isoTime(created_at)}">${universalTime(created_at)}</time>`
  const head = `${author(post)} <a href="${postPath(post.id)}">${shown}</a>${is_modified ? ' · изменено' : ''}`
  const { replied_post: replied } = actions
  const quoted =
    replied && hasQuote ? `<blockquote>${author(replied)} ${textOf(replied)}</blockquote>` : ''
  return `<article aria-label="${escapeHtml(owner.username)}"><p>${head}</p>${quoted}${textOf(post)}</article>`
}

function author({ owner }: Post | RepliedPost): string {
  return link(authorPath(owner.username), owner.username)
}

function textOf({ text }: Post | RepliedPost): string {
  return `<p dir="auto">${escapeHtml(text)}</p>`
}

function heading(text: string): string {
  return `<h1>${escapeHtml(text)}</h1>`
}

function link(path: string, text: string): string {
  return `<a href="${escapeHtml(path)}">${escapeHtml(text)}</a>`
}
