import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type FirstPage, OPEN_SITE } from '../../contract/pages.ts'
import { makePost } from '../../contract/post.fixture.ts'
import type { Post } from '../../contract/posts.ts'
import { hostileText, withoutNonXml } from '../testing/calls/hostile-text.ts'
import { findInXml, requireAtom, textsInXml } from '../testing/http/xml.ts'
import { type Feed, toAtom, toJsonFeed } from './feed-formats.ts'
import { headOf, structuredData } from './page-head.ts'

const ORIGIN = 'https://vslukh.example'
const SITE = { appName: 'Вслух', publicUrl: ORIGIN, idBase: ORIGIN }
const PUBLISHED = '1970-01-01T00:16:40.000Z'
const EDITED = '1970-01-01T00:17:40.000Z'
const FACTS = { now: 1_700_000_000, site: OPEN_SITE, cursor: '' }

function postOf(text: string): Post {
  return { ...makePost('1', { likes_count: 2, replies_count: 3 }), text }
}

const editedPost = (text: string) => ({ ...postOf(text), is_modified: true, modified_at: 1060 })

function feedOf(post: Post, title = 'Стена'): Feed {
  const url = `${ORIGIN}/feed`
  return {
    title,
    id: url,
    idBase: ORIGIN,
    url,
    nextUrl: null,
    pageUrl: `${ORIGIN}/`,
    note: '',
    since: 0,
    posts: [post],
  }
}

const listOf = (...posts: Post[]) => ({
  ...{ posts, firstPage: 1, lastPage: 2, total: 11, nextCursor: '7' },
})

const FORMATS = {
  Atom: (post: Post) => toAtom(feedOf(post), ORIGIN),
  'JSON Feed': (post: Post) => toJsonFeed(feedOf(post), ORIGIN),
  'structured data': (post: Post) => structuredData(post, SITE),
}
type Format = keyof typeof FORMATS

const ALL = Object.keys(FORMATS) as Format[]
const POST = postOf('Стена слышит, @petr2')
type Fields = Required<Omit<Post, 'actions'> & Post['actions']>

/** Another value of each field of a post, and the formats that show it. */
const SHOWN: { [F in keyof Fields]: [other: Fields[F], formats: Format[]] } = {
  id: ['2', ALL],
  text: ['Стена молчит', ALL],
  created_at: [1_000_000, ALL],
  // The formats have the time instead.
  is_modified: [true, []],
  modified_at: [1060, ['Atom', 'JSON Feed', 'structured data']],
  owner: [{ id: '2', username: 'petr2' }, ALL],
  clarification: [
    { ...postOf('А теперь молчит'), actions: { ...POST.actions, replied_post: null } },
    ALL,
  ],
  mentions: [[{ id: '2', username: 'petr2' }], ALL],
  // Depends on the viewer.
  is_liked: [true, []],
  likes_count: [20, ['structured data']],
  replies_count: [30, ['structured data']],
  // The link to the replied post shows the thread.
  parent_post_id: ['9', []],
  replied_post_id: ['9', []],
  // Feeds have the wall's posts and an author's, not replies.
  replied_post: [{ ...postOf('Вопрос'), actions: { ...POST.actions, replied_post: null } }, []],
}

test.for(Object.entries(SHOWN))(
  'the formats for readers without the app show a post’s %s, or leave it out on purpose',
  ([field, [other, formats]]) => {
    const changed =
      field in POST.actions
        ? { ...POST, actions: { ...POST.actions, [field]: other } }
        : { ...POST, [field]: other }
    expect(ALL.filter((name) => FORMATS[name](changed) !== FORMATS[name](POST))).toEqual(formats)
  },
)

test('Atom is valid and has the whole text, whatever a post and a title contain', () => {
  // The parser of XML may drop a byte order mark at the start of a text node, which is one line.
  const lettered = hostileText.map((text) => `x${text.replaceAll('\n', '\nx')}`)
  fc.assert(
    fc.property(lettered, (text) => {
      const xml = toAtom(feedOf(postOf(text), text), ORIGIN)
      requireAtom(xml)
      expect(textsInXml(xml, '/atom:feed/atom:title')).toEqual([withoutNonXml(text)])
      const lines = textsInXml(xml, '//atom:content/xhtml:div/text()')
      const breaks = findInXml(xml, '//atom:content/xhtml:div/xhtml:br')
      expect(breaks).toHaveLength(text.split('\n').length - 1)
      expect(lines.join('')).toBe(withoutNonXml(text).replaceAll('\n', ''))
      expect(findInXml(xml, '//atom:content//*')).toHaveLength(1 + breaks.length)
    }),
  )
})

test('an entry of Atom has the title, the author, the times and the absolute URL of its post', () => {
  const xml = toAtom(feedOf(editedPost('Раз\nдва')), ORIGIN)
  expect(textsInXml(xml, '/atom:feed/atom:updated')).toEqual([EDITED])
  const url = `${ORIGIN}/posts/1`
  for (const [path, text] of [
    ['id', url],
    ['title', 'olga_v: Раз два'],
    ['author/atom:name', 'olga_v'],
    ['published', PUBLISHED],
    ['updated', EDITED],
    ['link[@rel="alternate"]/@href', url],
  ]) {
    expect(textsInXml(xml, `//atom:entry/atom:${path}`), path).toEqual([text])
  }
})

test('feeds link a mention to the page of the user’s present name, and nothing else', () => {
  const text = 'Раз <b>\n@Petr_old и @nobody, www.a.org/@petr_old'
  const post = { ...postOf(text), mentions: [{ id: '2', username: 'petr2', name: 'petr_old' }] }
  const xml = toAtom(feedOf(post), ORIGIN)
  requireAtom(xml)
  const links = findInXml(xml, '//atom:content//xhtml:a')
  expect(links.map(({ attributes }) => attributes.href)).toEqual([`${ORIGIN}/users/petr2`])
  expect(textsInXml(xml, '//atom:content//xhtml:a')).toEqual(['@Petr_old'])
  const [item] = JSON.parse(toJsonFeed(feedOf(post), ORIGIN)).items
  expect(item.content_text).toBe(text)
  expect(item.content_html).toBe(
    `Раз &#60;b&#62;<br/><a href="${ORIGIN}/users/petr2">@Petr_old</a> и @nobody, www.a.org/@petr_old`,
  )
})

test('JSON Feed is version 1.1 and has the whole text, whatever a post contains', () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      const url = `${ORIGIN}/posts/1`
      expect(JSON.parse(toJsonFeed(feedOf(editedPost(text)), ORIGIN))).toEqual({
        version: 'https://jsonfeed.org/version/1.1',
        title: 'Стена',
        home_page_url: `${ORIGIN}/`,
        feed_url: `${ORIGIN}/feed`,
        icon: `${ORIGIN}/icon-512.png`,
        language: 'ru',
        items: [
          {
            ...{ id: url, url, content_text: text },
            ...{ date_published: PUBLISHED, date_modified: EDITED, authors: [{ name: 'olga_v' }] },
          },
        ],
      })
    }),
  )
})

test('the structured data of a post is one data block with the whole text', () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      const html = structuredData(editedPost(text), SITE)
      const [, json = ''] =
        /^<script type="application\/ld\+json">([^<]*)<\/script>$/.exec(html) ?? []
      expect(JSON.parse(json)).toMatchObject({
        '@type': 'DiscussionForumPosting',
        url: `${ORIGIN}/posts/1`,
        text,
        author: { name: 'olga_v' },
        datePublished: PUBLISHED,
        dateModified: EDITED,
        commentCount: 3,
        interactionStatistic: { userInteractionCount: 2 },
      })
    }),
  )
})

test('the structured data names each person whom a post or its clarification mentions once, with the page of the present name', () => {
  const petr = { id: '2', username: 'petr2' }
  const mentions = [petr, { ...petr, name: 'petr_old' }]
  const actions = { ...POST.actions, replied_post: null }
  const clarification = { ...postOf('и @petr2'), mentions: [petr], actions }
  const html = structuredData({ ...POST, mentions, clarification }, SITE)
  const person = { '@type': 'Person', name: 'petr2', url: `${ORIGIN}/users/petr2` }
  expect(JSON.parse(html.replace(/<.*?>/g, ''))).toMatchObject({
    mentions: [person],
    comment: { mentions: [person] },
  })
})

const WALL: FirstPage = { ...FACTS, shows: 'wall', posts: listOf(postOf('текст')) }
const THREAD: FirstPage = { ...FACTS, shows: 'post', post: postOf('Начало'), replies: listOf() }

test('the wall and a post name their feeds, other pages have none; only a post has structured data', () => {
  const headFor = (shown: Parameters<typeof headOf>[0]) => {
    const head = headOf(shown, SITE)
    const links = head.matchAll(/<link rel="alternate" type="(.*?)" href="(.*?)">/g)
    return { head, feeds: [...links].map(([, type, href]) => `${type} ${href}`) }
  }
  const ofWall = ['application/atom+xml /feed.atom', 'application/feed+json /feed.json']
  expect(headFor(WALL).feeds).toEqual(ofWall)
  const ofPost = headFor(THREAD)
  expect(ofPost.feeds).toEqual(['application/atom+xml /posts/1/replies.atom'])
  for (const shows of ['own', 'other', 'missing post', 'nothing'] as const) {
    expect(headFor({ shows }).feeds).toEqual([])
  }
  expect(ofPost.head).toContain('<script type="application/ld+json">')
  expect(headFor(WALL).head).not.toContain('<script')
})

test('a post names its address and its picture; previews have a large one, of the size that they state', async () => {
  const png = await readFile(join(import.meta.dirname, '../../web/public/preview.png'))
  const head = headOf(WALL, SITE)
  expect(head).toContain('<meta name="twitter:card" content="summary_large_image">')
  expect(head).toContain(`content="${ORIGIN}/preview.png"`)
  const ofPost = headOf(THREAD, SITE)
  expect(ofPost).toContain(`"og:url" content="${ORIGIN}/posts/1"`)
  expect(ofPost).toContain(`<link rel="canonical" href="${ORIGIN}/posts/1">`)
  // The header of a PNG: its width and height are the two numbers from byte 16 on.
  expect(head).toContain(`"og:image:width" content="${png.readUInt32BE(16)}"`)
  expect(head).toContain(`"og:image:height" content="${png.readUInt32BE(20)}"`)
})
