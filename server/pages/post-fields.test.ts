import { expect, test } from 'vitest'
import { OPEN_SITE } from '../../contract/pages.ts'
import type { Post } from '../../contract/posts.ts'
import { postOf } from '../testing/post-of.ts'
import { toAtom, toJsonFeed } from './feed-formats.ts'
import { structuredData } from './page-head.ts'
import { plainPage } from './plain-page.ts'

const ORIGIN = 'https://vslukh.example'
const FEED = {
  ...{ title: 'Стена', id: `${ORIGIN}/feed`, url: `${ORIGIN}/feed`, pageUrl: `${ORIGIN}/` },
  ...{ nextUrl: null, since: 0 },
}

const FORMATS = {
  'plain page': (post: Post) => {
    const posts = { posts: [post], firstPage: 1, lastPage: 1, total: 1, nextCursor: null }
    return plainPage('/', { now: 0, site: OPEN_SITE, cursor: '', shows: 'wall', posts })
  },
  Atom: (post: Post) => toAtom({ ...FEED, posts: [post] }, ORIGIN),
  'JSON Feed': (post: Post) => toJsonFeed({ ...FEED, posts: [post] }, ORIGIN),
  'structured data': (post: Post) => structuredData(post, ORIGIN),
}
type Format = keyof typeof FORMATS

const ALL = Object.keys(FORMATS) as Format[]
const { actions: ACTIONS, ...POST } = postOf('Стена слышит')
type Fields = Required<Omit<Post, 'actions'> & Post['actions']>

/** Another value of each field of a post, and the formats that show it. */
const SHOWN: { [F in keyof Fields]: [other: Fields[F], formats: Format[]] } = {
  id: ['2', ALL],
  text: ['Стена молчит', ALL],
  created_at: [1_790_000_060, ALL],
  is_modified: [true, ['plain page']],
  modified_at: [1_790_000_060, ['Atom', 'JSON Feed', 'structured data']],
  owner: [{ id: '2', username: 'petr2' }, ALL],
  // Depends on the viewer.
  is_liked: [true, []],
  likes_count: [20, ['structured data']],
  replies_count: [30, ['structured data']],
  // The link to the replied post shows the thread.
  parent_post_id: ['9', []],
  replied_post_id: ['9', []],
  // Feeds have the wall's posts and an author's, not replies.
  replied_post: [
    { ...postOf('Вопрос'), actions: { ...ACTIONS, replied_post: null } },
    ['plain page'],
  ],
}

test.for(Object.entries(SHOWN))(
  'the formats for readers without the app show a post’s %s, or leave it out on purpose',
  ([field, [other, formats]]) => {
    const changed =
      field in ACTIONS
        ? { ...POST, actions: { ...ACTIONS, [field]: other } }
        : { ...POST, actions: ACTIONS, [field]: other }
    const post = { ...POST, actions: ACTIONS }
    expect(ALL.filter((name) => FORMATS[name](changed) !== FORMATS[name](post))).toEqual(formats)
  },
)
