import { setImmediate } from 'node:timers/promises'
import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { expect, test, vi } from 'vitest'
import { makePost, replyTo } from '../../../contract/post.fixture.ts'
import {
  addToLists,
  beginningOf,
  type CachedPages,
  cursorAbove,
  evictPost,
  forgetViewer,
  hasMoved,
  isAboveRead,
  isShown,
  LIST_LIFETIME_MS,
  type ListName,
  pageAbove,
  pagesKey,
  publishedIn,
  seedList,
  shownPages,
  stoppedAt,
  whenListsAreRead,
} from './list-cache.ts'
import { putPosts, readCachedPost, setTombstone } from './post-cache.ts'

const shownIds = (...list: Parameters<typeof shownPages>) =>
  shownPages(...list).flatMap(({ ids }) => ids)

function startLists(...lists: readonly [ListName, entryKey: string, ids: string[]][]) {
  const client = new QueryClient()
  for (const [name, entryKey, ids] of lists) {
    const pages = [{ cursor: '', ids, nextCursor: null, total: ids.length, above: 0 }]
    client.setQueryData<CachedPages>(pagesKey(name, entryKey), { pages, pageParams: [''] })
  }
  const published = (name: ListName) => publishedIn(client, name)
  const idsOf = (name: ListName, entryKey: string) =>
    client.getQueryData<CachedPages>(pagesKey(name, entryKey))?.pages.flatMap(({ ids }) => ids)
  return { client, published, idsOf }
}

test('a published post goes to the lists that it belongs to, and to no other', () => {
  const { client, published } = startLists(['wall', 'a', ['1']], ['liked', 'c', []])
  addToLists(client, ['wall', 'replies 1'], '2')
  addToLists(client, ['wall', 'replies 1'], '3')
  expect(published('wall')).toEqual(['3', '2'])
  expect(published('replies 1')).toEqual(['3', '2'])
  for (const name of ['liked', 'replies 12'] as const) expect(published(name)).toEqual([])
})

test('adding a duplicate post to a list is an error, which is logged, and each list has it once', () => {
  const log = vi.spyOn(console, 'warn').mockImplementation(() => {})
  const { client, published } = startLists(['wall', 'a', ['2', '1']], ['wall', 'b', ['1']])
  addToLists(client, ['wall'], '2')
  addToLists(client, ['wall'], '2')
  expect(published('wall')).toEqual(['2'])
  expect(shownIds([first('2', '1')], ['2'])).toEqual(['2', '1'])
  expect(shownIds([first('1')], ['2'])).toEqual(['2', '1'])
  const error = new Error('Пост с id=2 уже существует')
  expect(log.mock.calls).toEqual([[error], [error]])
  log.mockRestore()
})

test('a deleted post is removed from every list, also where it was published here', () => {
  const { client, published, idsOf } = startLists(['wall', 'a', ['2', '1']], ['liked', 'b', ['1']])
  client.setQueryData(['list', 'replies 7', 'ancestors'], { ids: ['1'] })
  addToLists(client, ['wall'], '3')
  evictPost(client, '1')
  evictPost(client, '3')
  expect([idsOf('wall', 'a'), idsOf('liked', 'b')]).toEqual([['2'], []])
  expect(published('wall')).toEqual([])
  expect(client.getQueryData(['list', 'replies 7', 'ancestors'])).toEqual({ ids: ['1'] })
})

test('a deleted reply lowers the count of replies, but never below zero', () => {
  const { client } = startLists(['wall', 'a', []])
  const parent = makePost('1', { replies_count: 1 })
  putPosts(client, [parent, makePost('2', replyTo(parent)), makePost('3', replyTo(parent))])
  const count = () => readCachedPost(client, '1')?.actions.replies_count
  evictPost(client, '2')
  expect([count(), readCachedPost(client, '2')]).toEqual([0, null])
  evictPost(client, '3')
  expect(count()).toBe(0)
})

test('posts published here are kept as long as the lists', () => {
  const { client } = startLists(['wall', 'a', ['1']])
  addToLists(client, ['wall'], '2')
  const entry = client.getQueryCache().find({ queryKey: pagesKey('wall', 'published') })
  expect(entry?.gcTime).toBe(LIST_LIFETIME_MS)
  expect(client.getQueryDefaults(['settings'])).toEqual({})
})

test('a list that the server rendered is cached with its posts and its cursor', () => {
  const client = new QueryClient()
  const answer = { posts: [makePost('2'), makePost('1')], nextCursor: '1', total: 7 }
  const list = { name: 'wall', entryKey: 'a', cursor: '3' } as const
  seedList(client, list, { ...answer, firstPage: 1, lastPage: 1 })
  expect(client.getQueryData(pagesKey('wall', 'a'))).toEqual({
    pages: [{ cursor: '3', ids: ['2', '1'], nextCursor: '1', total: 7, above: 0 }],
    pageParams: ['3'],
  })
  expect(readCachedPost(client, '2')?.id).toBe('2')
})

test('for another viewer, public lists stay without likes and are read again; everything else is removed', async () => {
  const publicLists = ['wall', 'search', 'replies 12', 'posts-of 7', 'replies-of 7'] as const
  const privateLists = ['liked', 'received'] as const
  const { client } = startLists(
    ...[...publicLists, ...privateLists].map((name): [ListName, string, string[]] => [
      name,
      'a',
      [],
    ]),
  )
  putPosts(client, [makePost('1', { is_liked: true, likes_count: 2 })])
  setTombstone(client, '2')
  client.setQueryData(['settings'], 'of the former viewer')
  client.setQueryData(['no list', 'wall'], 'of the former viewer')
  client.setQueryDefaults(['device'], { meta: { outlivesViewer: true } })
  client.setQueryData(['device'], 'of the browser')
  // One is on the screen, and one was never read.
  const onScreen = new QueryObserver(client, { queryKey: ['shown'], queryFn: () => 'anew' })
  const leave = onScreen.subscribe(() => {})
  client.setQueryData(['shown'], 'of the former viewer')
  const unread = pagesKey('wall', 'unread')
  client.getQueryCache().build(client, { queryKey: unread })

  forgetViewer(client)
  const isRead = (name: ListName) => client.getQueryState(pagesKey(name, 'a'))
  for (const name of publicLists) expect(isRead(name)?.isInvalidated, name).toBe(true)
  for (const name of privateLists) expect(isRead(name), name).toBeUndefined()
  const { is_liked, likes_count } = readCachedPost(client, '1')?.actions ?? {}
  expect({ is_liked, likes_count }).toEqual({ is_liked: false, likes_count: 2 })
  const left = [['settings'], ['no list', 'wall'], ['device'], ['shown']].map((key) =>
    client.getQueryData(key),
  )
  expect(left).toEqual([undefined, undefined, 'of the browser', undefined])
  expect(client.getQueryState(unread)).toBeUndefined()
  expect(client.getQueryState(['device'])?.isInvalidated).toBe(false)
  await expect.poll(() => client.getQueryData(['shown'])).toBe('anew')
  leave()
})

test('whenListsAreRead waits only for lists on the page, even for one that fails', async () => {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } })
  const { promise, reject } = Promise.withResolvers<string>()
  const watch = (key: string, queryFn: () => Promise<string>) =>
    new QueryObserver(client, { queryKey: [key], queryFn }).subscribe(() => {})
  const leave = [watch('first', () => promise)]
  void client.prefetchQuery({ queryKey: ['elsewhere'], queryFn: () => new Promise(() => {}) })
  client.setQueryData(['read'], 'already')
  leave.push(watch('read', () => new Promise(() => {})))
  let isRead = false
  const reading = whenListsAreRead(client).then(() => {
    isRead = true
  })
  await setImmediate()
  expect(isRead).toBe(false)
  reject(new Error('no answer'))
  await reading
  for (const stop of leave) stop()
})

const later = (cursor: string, ...ids: string[]) => {
  return { cursor, ids, nextCursor: ids.at(-1) ?? null, total: 5, above: 0 }
}
const first = (...ids: string[]) => later('', ...ids)
const read = [first('5', '4'), later('4', '3')]

test('posts published here come first, newest first, then the pages', () => {
  expect(shownIds(read, ['7', '6'])).toEqual(['7', '6', '5', '4', '3'])
  expect(shownIds([first()], ['6'])).toEqual(['6'])
  expect(shownIds([first('6', '5'), later('5', '4')], ['6'])).toEqual(['6', '5', '4'])
})

test('hidden posts are left out, and so is a page without other posts', () => {
  expect(shownPages(read, ['6'], (id) => !['6', '5', '3'].includes(id))).toEqual([
    { key: '4', ids: ['4'], above: 0 },
  ])
})

test('deleted posts and posts of hidden authors are not shown', () => {
  const client = new QueryClient()
  putPosts(client, [{ ...makePost('3'), owner: { id: 'u2', username: 'petr' } }, makePost('2')])
  setTombstone(client, '1')
  const shown = (hidden: string[]) => ['3', '2', '1'].filter((id) => isShown(client, id, hidden))
  expect([shown([]), shown(['u2'])]).toEqual([['3', '2'], ['2']])
})

test.each([
  ['the newest that was read', read, '5', false],
  ['a new post', read, '6', true],
  ['one whose id is larger as a number, but not as a string', read, '10', true],
  ['an older one', read, '1', false],
  ['the first post of an empty list', [first()], '1', true],
  ['the newest below an empty page', [first(), ...read], '5', false],
  ['a post for a list that is not read', [], '1', true],
] as const)('whether a post is newer than all that was read: %s', (_, list, id, isNewer) => {
  expect(isAboveRead(list, id)).toBe(isNewer)
})

test('posts read upwards become a page above, in the order of the list, with cursors for both directions', () => {
  const below = first('5', '4')
  const answer = { ids: ['6', '7'], nextCursor: 'oldest-7', total: 8 }
  const place = { cursor: cursorAbove(below) ?? '', start: '' }
  expect(place.cursor).toBe('oldest-5')
  const page = pageAbove(below, place, answer)
  expect(page).toEqual({
    cursor: '8',
    ids: ['7', '6'],
    nextCursor: '6',
    total: 8,
    above: 1,
    stop: '6',
  })
  expect(cursorAbove(page)).toBe('oldest-7')
})

test('a page that reaches the beginning of the list has no posts above it, and a cursor for newer ones', () => {
  const answer = { ids: ['6', '7'], nextCursor: null, total: 7 }
  const page = pageAbove(first('5', '4'), { cursor: 'oldest-5', start: '' }, answer)
  expect(page).toMatchObject({ cursor: '', ids: ['7', '6'], nextCursor: '6', total: 7, above: 0 })
  expect([beginningOf(page), cursorAbove(page)]).toEqual(['8', 'oldest-7'])
})

test('if no posts came above, the page above is empty, and continues from the same place', () => {
  const none = { ids: [], nextCursor: null, total: 5 }
  const page = pageAbove(first('5', '4'), { cursor: 'oldest-5', start: '' }, none)
  expect(page).toEqual({ cursor: '6', ids: [], nextCursor: '6', total: 5, above: 0 })
  expect([beginningOf(page), cursorAbove(page)]).toEqual(['6', 'oldest-5'])
  expect(shownPages([page, ...read])).toEqual(shownPages(read))
})

test('a first page whose posts were all removed has a cursor to read upwards, an empty list has none', () => {
  expect([beginningOf(first()), cursorAbove(first())]).toEqual(['', undefined])
  const page = { ...first(), nextCursor: '4' }
  expect([beginningOf(page), cursorAbove(page)]).toEqual(['4', 'oldest-3'])
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

test('the number of posts above a page follows from the totals, and is at least one if there are any', () => {
  const answer = { ids: ['6', '7'], nextCursor: 'oldest-7' }
  const above = (total: number, known = 0) =>
    pageAbove(
      { ...first('5'), above: known },
      { cursor: 'oldest-5', start: '' },
      { ...answer, total },
    ).above
  expect([above(10), above(10, 20), above(7), above(4)]).toEqual([3, 23, 1, 1])
})

test('each page has the number of posts shown above it, and a published post stays in the page that was read with it', () => {
  expect(shownPages([first('7', '6'), ...read], ['8', '6'])).toEqual([
    { key: 'published', ids: ['8'], above: 0 },
    { key: '6', ids: ['7', '6'], above: 1 },
    { key: '4', ids: ['5', '4'], above: 3 },
    { key: '3', ids: ['3'], above: 5 },
  ])
  expect(shownPages([{ ...later('41', '40', '39'), above: 7 }])).toMatchObject([{ above: 7 }])
})

test('a post has moved if others came above it or its page changed, but not if the viewer published one', () => {
  const pagesOf = (...list: Parameters<typeof shownPages>) => shownPages(...list)
  const moved = (id: string, ...list: Parameters<typeof shownPages>) =>
    hasMoved(pagesOf(read), pagesOf(...list), id)
  expect(moved('4', [first('7', '6'), ...read])).toBe(true)
  expect(moved('3', [first('5', '4'), later('4', '3', '2')])).toBe(true)
  expect(moved('4', read, ['6'])).toBe(false)
  expect(moved('4', [...read, later('3', '2')])).toBe(false)
  expect([moved('6', read, ['6']), moved('9', read)]).toEqual([false, false])
  const withOwn = pagesOf(read, ['6'])
  expect(hasMoved(withOwn, pagesOf([first('7', '6'), ...read], ['6']), '6')).toBe(true)
})

test('the reader stopped at the first post below the newer ones, even if the first one was deleted', () => {
  const below = first('5', '4')
  const answer = { ids: ['6', '7'], nextCursor: 'oldest-7', total: 12 }
  const page = pageAbove(below, { cursor: 'oldest-5', start: '' }, answer)
  const next = { ids: ['8', '9'], nextCursor: null, total: 12 }
  const top = pageAbove(page, { cursor: 'oldest-7', start: '' }, next)
  expect(stoppedAt([below], ['5', '4'])).toBeUndefined()
  expect(stoppedAt([page, below], ['7', '6', '5', '4'])).toBe('5')
  expect(stoppedAt([top, page, below], ['9', '8', '7', '6', '4'])).toBe('4')
  expect(stoppedAt([page, below], ['5', '4'])).toBeUndefined()
})

test('a page keeps its key as the list grows and its posts are removed', () => {
  const keys = (...list: Parameters<typeof shownPages>) => shownPages(...list).map(({ key }) => key)
  const more = [...read, later('3', '2')]
  expect(keys(more, ['6'])).toEqual(['published', '4', '3', '2'])
  expect(keys(more, [], (id) => id !== '4')).toEqual(['4', '3', '2'])
  expect(keys([{ ...first('1'), nextCursor: null }])).toEqual(['end'])
})

test('a page that shows all of its posts keeps its array, so that no card is rendered again', () => {
  const [shown, second] = shownPages(read, [], (id) => id !== '5')
  expect(shown?.ids).toEqual(['4'])
  expect(second?.ids).toBe(read[1]?.ids)
})
