import { expect, test } from 'vitest'
import { OPEN_SITE } from '../../contract/pages.ts'
import type { Post } from '../../contract/posts.ts'
import type { Profile } from '../../contract/profiles.ts'
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

const EMPTY = { posts: [], firstPage: 1, lastPage: 1, total: 0, nextCursor: null }
const AUTHOR: Profile = {
  ...{ id: '1', username: 'olga1', created_at: 1_790_000_000 },
  ...{ posts_count: 2, replies_count: 3 },
}
const plainAuthor = (author: Profile) =>
  plainPage('/users/olga1', {
    ...{ now: 0, site: OPEN_SITE, cursor: '' },
    ...{ shows: 'author', author, list: 'author', posts: EMPTY },
  })

/** Another value of each field of an author, and whether the plain page shows it. */
const SHOWN_OF_AUTHOR: { [F in keyof Profile]: [other: Profile[F], isShown: boolean] } = {
  id: ['2', false],
  username: ['petr2', true],
  // The app draws them beside the name.
  created_at: [1_800_000_000, false],
  posts_count: [20, false],
  replies_count: [30, false],
}

test.for(Object.entries(SHOWN_OF_AUTHOR))(
  'the plain page of an author shows their %s, or leaves it out on purpose',
  ([field, [other, isShown]]) => {
    const html = plainAuthor({ ...AUTHOR, [field]: other })
    expect(html !== plainAuthor(AUTHOR)).toBe(isShown)
  },
)
