import { QueryObserver } from '@tanstack/react-query'
import { expect, test, vi } from 'vitest'
import { makePost, replyTo } from '../../../contract/post.fixture.ts'
import { queryClient } from '../../http/query-client.ts'
import {
  addToLists,
  type CachedPages,
  evictPost,
  forgetViewer,
  type ListName,
  pagesKey,
  publishedIn,
  setOnlyPage,
} from './list-cache.ts'
import { putPosts, readCachedPost } from './post-cache.ts'
import {
  beginningOf,
  cursorAbove,
  isAboveRead,
  pageAbove,
  shownPages,
  stoppedAt,
} from './use-post-list.ts'

function startLists(...lists: readonly [ListName, entryKey: string, ids: string[]][]) {
  queryClient.clear()
  for (const [name, entryKey, ids] of lists) setOnlyPage(pagesKey(name, entryKey), first(...ids))
}

const idsOf = (name: ListName, entryKey: string) =>
  queryClient.getQueryData<CachedPages>(pagesKey(name, entryKey))?.pages.flatMap(({ ids }) => ids)

const later = (cursor: string, ...ids: string[]) => {
  return { cursor, ids, nextCursor: ids.at(-1) ?? null, total: 5, above: 0 }
}
const first = (...ids: string[]) => later('', ...ids)
const read = [first('5', '4'), later('4', '3')]
const shownIds = (...list: Parameters<typeof shownPages>) =>
  shownPages(...list).flatMap(({ ids }) => ids)

test('a published post goes to the lists that it belongs to, and to no other', () => {
  const log = vi.spyOn(console, 'warn')
  startLists(['wall', 'a', ['1']], ['liked', 'c', ['2']])
  addToLists(['wall', 'replies 1'], '2')
  addToLists(['wall', 'replies 1'], '3')
  expect(publishedIn('wall')).toEqual(['3', '2'])
  expect(publishedIn('replies 1')).toEqual(['3', '2'])
  for (const name of ['liked', 'replies 12'] as const) expect(publishedIn(name)).toEqual([])
  expect(log).not.toHaveBeenCalled()
})

test('adding a duplicate post to a list is an error, which is logged, and each list has it once', () => {
  const log = vi.spyOn(console, 'warn').mockImplementation(() => {})
  startLists(['wall', 'a', ['2', '1']], ['wall', 'b', ['1']])
  addToLists(['wall'], '2')
  addToLists(['wall'], '2')
  expect(publishedIn('wall')).toEqual(['2'])
  expect(shownIds([first('2', '1')], ['2'])).toEqual(['2', '1'])
  const error = new Error('Пост с id=2 уже существует')
  expect(log.mock.calls).toEqual([[error], [error]])
})

test('a deleted post is removed from every list, also where it was published here', () => {
  startLists(['wall', 'a', ['2', '1']], ['liked', 'b', ['1']])
  addToLists(['wall'], '3')
  const ancestors = ['list', 'replies 2', 'ancestors']
  queryClient.setQueryData(ancestors, { ids: ['1'] })
  evictPost('1')
  evictPost('3')
  expect([idsOf('wall', 'a'), idsOf('liked', 'b')]).toEqual([['2'], []])
  expect(publishedIn('wall')).toEqual([])
  // A placeholder stands for it above a reply.
  expect(queryClient.getQueryData(ancestors)).toEqual({ ids: ['1'] })
})

test('a deleted reply lowers the count of replies, but never below zero', () => {
  startLists(['wall', 'a', []])
  const parent = makePost('1', { replies_count: 1 })
  putPosts([parent, makePost('2', replyTo(parent)), makePost('3', replyTo(parent))])
  const count = () => readCachedPost('1')?.actions.replies_count
  evictPost('2')
  expect([count(), readCachedPost('2')]).toEqual([0, null])
  evictPost('3')
  expect(count()).toBe(0)
})

test('for another viewer, public lists stay without likes, which are outdated; everything else is removed', async () => {
  const publicLists = ['wall', 'search', 'replies 12'] as const
  const privateLists = ['liked', 'received'] as const
  const all: readonly ListName[] = [...publicLists, ...privateLists]
  startLists(...all.map((name) => [name, 'a', []] as [ListName, string, []]))
  putPosts([makePost('1', { is_liked: true, likes_count: 2 })])
  queryClient.setQueryData(['settings'], 'of the former viewer')
  queryClient.setQueryDefaults(['device'], { meta: { outlivesViewer: true } })
  queryClient.setQueryData(['device'], 'of the browser')
  // One is on the screen, and one was never read.
  const onScreen = new QueryObserver(queryClient, { queryKey: ['shown'], queryFn: () => 'anew' })
  const leave = onScreen.subscribe(() => {})
  queryClient.setQueryData(['shown'], 'of the former viewer')
  const unread = pagesKey('wall', 'unread')
  queryClient.getQueryCache().build(queryClient, { queryKey: unread })

  // Nobody has said that all viewers may see it.
  const added = ['list', 'drafts', 'a', 'pages']
  queryClient.setQueryData(added, { pages: [first('1')], pageParams: [''] })

  await forgetViewer()
  const pagesOf = (key: readonly string[]) =>
    queryClient.getQueryData<CachedPages>(key)?.pages.map(({ isOutdated }) => isOutdated)
  for (const name of publicLists) expect(pagesOf(pagesKey(name, 'a')), name).toEqual([true])
  for (const name of privateLists) expect(pagesOf(pagesKey(name, 'a')), name).toBeUndefined()
  expect(pagesOf(added)).toBeUndefined()
  const { is_liked, likes_count } = readCachedPost('1')?.actions ?? {}
  expect({ is_liked, likes_count }).toEqual({ is_liked: false, likes_count: 2 })
  const left = ['settings', 'device'].map((key) => queryClient.getQueryData([key]))
  expect(left).toEqual([undefined, 'of the browser'])
  expect(queryClient.getQueryState(unread)).toBeUndefined()
  expect(queryClient.getQueryState(['device'])?.isInvalidated).toBe(false)
  await expect.poll(() => queryClient.getQueryData(['shown'])).toBe('anew')
  leave()
})

test('posts published here come first, until they are read with a page; a page has a lasting key and the number of posts above it', () => {
  expect(shownPages([first('7', '6'), ...read], ['8', '6'])).toEqual([
    { key: 'published', ids: ['8'], above: 0 },
    { key: '6', ids: ['7', '6'], above: 1 },
    { key: '4', ids: ['5', '4'], above: 3 },
    { key: '3', ids: ['3'], above: 5 },
  ])
  const isShown = (id: string) => !['6', '5', '3'].includes(id)
  expect(shownPages(read, ['6'], isShown)).toEqual([{ key: '4', ids: ['4'], above: 0 }])
  expect(shownPages([{ ...later('41', '40'), above: 7 }])).toMatchObject([{ above: 7 }])
  expect(shownIds([first()], ['6'])).toEqual(['6'])
})

test.each([
  ['the newest that was read', read, '5', false],
  ['one whose id is larger as a number, but not as a string', read, '10', true],
  ['the first post of an empty list', [first()], '1', true],
  ['the newest below an empty page', [first(), ...read], '5', false],
] as const)('whether a post is newer than all that was read: %s', (_, list, id, isNewer) => {
  expect(isAboveRead(list, id)).toBe(isNewer)
})

test.each([
  ['continues in both directions', {}, '6 7', 'oldest-7', 8, { cursor: '8', above: 1, stop: '6' }],
  ['counts added posts', { above: 20 }, '6 7', 'oldest-7', 10, { cursor: '8', above: 23 }],
  ['has one above it at least', {}, '6 7', 'oldest-7', 4, { cursor: '8', above: 1, stop: '6' }],
  ['reaches the beginning', {}, '6 7', null, 7, { cursor: '', above: 0, stop: '6' }],
  ['may be empty', {}, '', null, 5, { cursor: '6', above: 0 }],
])('the page above another %s', (_, change, posts, nextCursor, total, expected) => {
  const below = { ...first('5', '4'), ...change }
  const ids = posts.split(' ').filter(Boolean)
  const cursor = cursorAbove(below) ?? ''
  expect(cursor).toBe('oldest-5')
  const page = pageAbove(below, { cursor, start: '' }, { ids, nextCursor, total })
  expect(page).toEqual({ ids: [...ids].reverse(), nextCursor: '6', total, ...expected })
})

test('a page is read upwards from its beginning, an empty list not at all', () => {
  const list = first('7', '6')
  expect([beginningOf(list), cursorAbove(list)]).toEqual(['8', 'oldest-7'])
  expect([beginningOf(first()), cursorAbove(first())]).toEqual(['', undefined])
  const withoutPosts = { ...first(), nextCursor: '4' }
  expect([beginningOf(withoutPosts), cursorAbove(withoutPosts)]).toEqual(['4', 'oldest-3'])
})

test('in a list with the oldest posts first, the page above has older posts', () => {
  const below = { ...later('oldest-4', '5', '6'), above: 4 }
  const place = { cursor: cursorAbove(below) ?? '', start: 'oldest-0' }
  expect(place.cursor).toBe('5')
  const page = pageAbove(below, place, { ids: ['4', '3'], nextCursor: '3', total: 5 })
  const more = { nextCursor: 'oldest-4', total: 5 }
  expect(page).toEqual({ cursor: 'oldest-2', ids: ['3', '4'], ...more, above: 2 })
  const whole = pageAbove(page, { cursor: '3', start: 'oldest-0' }, { ...page, nextCursor: null })
  expect(whole).toMatchObject({ cursor: 'oldest-0', above: 0 })
})

test('the reader stopped at the first post below the newer ones, even if the first one was deleted', () => {
  expect(stoppedAt(undefined, ['5', '4'])).toBeUndefined()
  expect(stoppedAt('6', ['7', '6', '5', '4'])).toBe('5')
  expect(stoppedAt('6', ['7', '6', '4'])).toBe('4')
  expect(stoppedAt('6', ['5', '4'])).toBeUndefined()
})
