import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type FirstPage, OPEN_SITE } from '../../contract/pages.ts'
import { hostileText, unescapeHtml } from '../testing/hostile-text.ts'
import { postOf } from '../testing/post-of.ts'
import { plainPage } from './plain-page.ts'

const FACTS = { now: 1_700_000_000, site: OPEN_SITE, cursor: '' }

function listOf(text: string) {
  return { posts: [postOf(text)], firstPage: 1, lastPage: 2, total: 11, nextCursor: '7' }
}

function pagesOf(text: string): [url: string, first: FirstPage][] {
  const posts = listOf(text)
  const { owner, created_at } = postOf(text)
  const author = { ...owner, created_at, posts_count: 1, replies_count: 0 }
  const search = { words: ['стена'], similar: ['1'], refusal: null }
  return [
    ['/', { ...FACTS, shows: 'wall', posts }],
    ['/posts/7', { ...FACTS, shows: 'post', post: postOf('Начало'), replies: posts }],
    ['/users/olga', { ...FACTS, shows: 'author', author, list: 'author', posts }],
    ['/search?q=стена', { ...FACTS, shows: 'search', posts, search }],
  ]
}

test('a plain page has its texts as they are, links to authors and posts, and to the next part of its list', () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      for (const [url, first] of pagesOf(text)) {
        const html = plainPage(url, first)
        const shown = [...html.matchAll(/<p dir="auto">(.*?)<\/p>/gs)].map(([, it = '']) => it)
        expect(unescapeHtml(shown.at(-1) ?? '')).toBe(text)
        const end = url.includes('?') ? '?q=%D1%81%D1%82%D0%B5%D0%BD%D0%B0&#38;' : `${url}?`
        expect(html).toContain(`${end}cursor=7">Дальше</a>`)
        expect(html).toContain('href="/users/olga1"')
        expect(html).toContain('href="/posts/1"')
        expect(html.includes('<li><p>Похожие слова</p>')).toBe(first.shows === 'search')
      }
    }),
  )
})

test('an empty list of a plain page says so in two texts', () => {
  const nothing = { posts: [], firstPage: 1, lastPage: 1, total: 0, nextCursor: null }
  const html = plainPage('/', { ...FACTS, shows: 'wall', posts: nothing })
  expect(html).toContain('<h1>Стена</h1>')
  expect(html).toContain('<p>Записи не найдены</p><p>Возможно, записи скоро появятся</p>')
})
