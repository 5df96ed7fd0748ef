import fc from 'fast-check'
import Type from 'typebox'
import { Value } from 'typebox/value'
import { expect, test } from 'vitest'
import { hostileText, withoutNonXml } from '../testing/hostile-text.ts'
import { postOf } from '../testing/post-of.ts'
import { findInXml, requireAtom, textsInXml } from '../testing/xml.ts'
import { type Feed, toAtom, toJsonFeed } from './feed-formats.ts'
import { structuredData } from './page-head.ts'

const ORIGIN = 'https://vslukh.example'

const Url = Type.String({ pattern: '^https?://' })
const Moment = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' })
const nothingElse = { additionalProperties: false }

const Item = Type.Object(
  {
    id: Url,
    url: Url,
    content_text: Type.String(),
    date_published: Moment,
    date_modified: Type.Optional(Moment),
    authors: Type.Array(Type.Object({ name: Type.String() }, nothingElse)),
  },
  nothingElse,
)

/** What the wall's feeds contain of https://jsonfeed.org/version/1.1. */
const JsonFeed = Type.Object(
  {
    version: Type.Literal('https://jsonfeed.org/version/1.1'),
    title: Type.String(),
    home_page_url: Url,
    feed_url: Url,
    next_url: Type.Optional(Url),
    icon: Url,
    language: Type.String(),
    items: Type.Array(Item),
  },
  nothingElse,
)

// The parser of XML may drop a byte order mark at the start of a text node, which is one line.
const letteredText = hostileText.map((text) => `x${text.replaceAll('\n', '\nx')}`)

function feedOf(text: string, title = 'Стена'): Feed {
  return {
    title,
    id: `${ORIGIN}/feed`,
    url: `${ORIGIN}/feed`,
    nextUrl: null,
    pageUrl: `${ORIGIN}/`,
    since: 0,
    posts: [postOf(text)],
  }
}

test('Atom is valid and has the whole text, whatever a post and a title contain', () => {
  fc.assert(
    fc.property(letteredText, (text) => {
      const xml = toAtom(feedOf(text, text), ORIGIN)
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

test('JSON Feed is valid and has the whole text, whatever a post contains', () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      const feed = JSON.parse(toJsonFeed(feedOf(text), ORIGIN))
      expect([...Value.Errors(JsonFeed, feed)]).toEqual([])
      expect(feed.items[0].content_text).toBe(text)
    }),
  )
})

test('the structured data of a post is one data block with the whole text', () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      const html = structuredData(postOf(text), ORIGIN)
      const [, json = ''] =
        /^<script type="application\/ld\+json">([^<]*)<\/script>$/.exec(html) ?? []
      expect(JSON.parse(json)).toMatchObject({
        '@type': 'DiscussionForumPosting',
        url: `${ORIGIN}/posts/1`,
        text,
        author: { name: 'olga1' },
        datePublished: '2026-09-21T14:13:20.000Z',
        commentCount: 3,
        interactionStatistic: { userInteractionCount: 2 },
      })
    }),
  )
})

test('feeds and structured data say when a post was edited', () => {
  const post = { ...postOf('текст'), is_modified: true, modified_at: 1_790_000_060 }
  const feed = { ...feedOf('текст'), posts: [post] }
  const edited = '2026-09-21T14:14:20.000Z'
  const atom = toAtom(feed, ORIGIN)
  expect([...atom.matchAll(/<updated>(.*?)</g)].map(([, at]) => at)).toEqual([edited, edited])
  expect(atom).toContain('<published>2026-09-21T14:13:20.000Z<')
  expect(JSON.parse(toJsonFeed(feed, ORIGIN)).items[0].date_modified).toBe(edited)
  expect(structuredData(post, ORIGIN)).toContain(`"dateModified":"${edited}"`)
})
