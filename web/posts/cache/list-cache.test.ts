import { setImmediate } from 'node:timers/promises'
import { QueryClient, QueryObserver } from '@tanstack/react-query'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import type { Post } from '../../../contract/posts.ts'
import {
  addPost,
  addToLists,
  type CachedPages,
  changesKey,
  evictPost,
  fillGap,
  forgetViewer,
  hasNewer,
  hasPost,
  LIST_LIFETIME_MS,
  type ListName,
  type LocalChanges,
  NO_CHANGES,
  type PostList,
  pagesKey,
  placePages,
  removePost,
  seedList,
  showNewer,
  shownPages,
  whenListsAreRead,
  withoutAuthors,
} from './list-cache.ts'
import { putPosts, readCachedPost, setTombstone } from './post-cache.ts'

const listIds = (list: PostList) => shownPages(list).flatMap(({ ids }) => ids)

function startLists(...lists: readonly [ListName, entryKey: string, ids: string[]][]) {
  const client = new QueryClient()
  for (const [name, entryKey, ids] of lists) {
    const pages = [{ cursor: '', ids, nextCursor: null, total: ids.length }]
    client.setQueryData<CachedPages>(pagesKey(name, entryKey), { pages, pageParams: [''] })
  }
  const changes = (name: ListName, entryKey: string) =>
    client.getQueryData<LocalChanges>(changesKey(name, entryKey)) ?? NO_CHANGES
  return { client, changes }
}

function makePost(id: string, actions: Partial<Post['actions']> = {}, ownerId = 'u1'): Post {
  const counts = { is_liked: false, likes_count: 0, replies_count: 0 }
  const replied = { parent_post_id: null, replied_post_id: null, replied_post: null }
  const owner = { id: ownerId, username: 'olga_v' }
  const actionsOf = { ...counts, ...replied, ...actions }
  return { id, text: '', created_at: 1000, is_modified: false, owner, actions: actionsOf }
}

test('a published post goes to every entryKey of the lists it belongs to, and to no other list', () => {
  const { client, changes } = startLists(
    ['wall', 'a', ['1']],
    ['wall', 'b', []],
    ['liked', 'c', []],
  )
  client.getQueryCache().build(client, { queryKey: pagesKey('wall', 'reading') })
  addToLists(client, ['wall', 'posts-of 7'], '2')
  addToLists(client, ['wall', 'posts-of 7'], '3')
  expect(changes('wall', 'a').added).toEqual(['3', '2'])
  expect(changes('wall', 'b').added).toEqual(['3', '2'])
  expect(changes('wall', 'reading').added).toEqual(['3', '2'])
  expect(changes('liked', 'c').added).toEqual([])
})

test('adding a duplicate post to a list is an error, which is logged, and the list has it once', () => {
  const log = vi.spyOn(console, 'warn').mockImplementation(() => {})
  const { client, changes } = startLists(['wall', 'a', ['2', '1']], ['wall', 'b', ['1']])
  addToLists(client, ['wall'], '2')
  expect(changes('wall', 'a').added).toEqual([])
  expect(changes('wall', 'b').added).toEqual(['2'])
  expect(log.mock.calls).toEqual([[new Error('Пост с id=2 уже существует')]])
  log.mockRestore()
})

test('a reply is added to the list of the post it replies to', () => {
  const { client, changes } = startLists(['replies 1', 'a', []], ['replies 12', 'b', []])
  addToLists(client, ['replies 1'], '2')
  expect(changes('replies 1', 'a').added).toEqual(['2'])
  expect(changes('replies 12', 'b').added).toEqual([])
})

test('a deleted post is removed from every list', () => {
  const { client, changes } = startLists(['wall', 'a', ['1']], ['liked', 'b', ['1']])
  evictPost(client, '1')
  expect(changes('wall', 'a').removed).toEqual(['1'])
  expect(changes('liked', 'b').removed).toEqual(['1'])
})

test('a deleted reply is counted no more, and never below none', () => {
  const { client } = startLists(['wall', 'a', []])
  putPosts(client, [makePost('1', { replies_count: 1 })])
  const reply = (id: string) => makePost(id, { replied_post_id: '1', parent_post_id: '1' })
  for (const id of ['2', '3']) {
    const replied_post = { ...makePost('1', { replies_count: 1 }) }
    const quoted = { ...replied_post, actions: { ...replied_post.actions, replied_post: null } }
    const { actions } = reply(id)
    putPosts(client, [{ ...reply(id), actions: { ...actions, replied_post: quoted } }])
  }
  const count = () => readCachedPost(client, '1')?.actions.replies_count
  evictPost(client, '2')
  expect([count(), readCachedPost(client, '2')]).toEqual([0, null])
  evictPost(client, '3')
  expect(count()).toBe(0)
})

test('what was changed here is kept as long as the lists', () => {
  const { client } = startLists(['wall', 'a', ['1']])
  evictPost(client, '1')
  const entry = client.getQueryCache().find({ queryKey: changesKey('wall', 'a') })
  expect(entry?.gcTime).toBe(LIST_LIFETIME_MS)
  expect(client.getQueryDefaults(['settings'])).toEqual({})
})

test('a list that came with the page is there with its posts and its cursor', () => {
  const client = new QueryClient()
  const answer = { posts: [makePost('2'), makePost('1')], nextCursor: '1', total: 7 }
  const list = { name: 'wall', entryKey: 'a', cursor: '3' } as const
  seedList(client, list, { ...answer, firstPage: 1, lastPage: 1 })
  expect(client.getQueryData(pagesKey('wall', 'a'))).toEqual({
    pages: [{ cursor: '3', ids: ['2', '1'], nextCursor: '1', total: 7 }],
    pageParams: ['3'],
  })
  expect(readCachedPost(client, '2')?.id).toBe('2')
})

test('for another viewer, what everybody sees alike stays without the likes and is read again; all else goes', async () => {
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

test('who waits for the lists waits for those on the page alone, also for one that fails', async () => {
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

test('posts of hidden authors are left out of each page', () => {
  const client = new QueryClient()
  putPosts(client, [makePost('5', {}, 'u2'), makePost('4'), makePost('3', {}, 'u2')])
  const list: PostList = { ...read, removed: ['9'], pages: [...read.pages, later('3', '2')] }
  expect(withoutAuthors(client, list, [])).toBe(list)
  expect(withoutAuthors(client, list, ['u2'])).toEqual({ ...list, removed: ['9', '5', '3'] })
})

const first = (...ids: string[]) => ({ cursor: '', ids })
const later = (cursor: string, ...ids: string[]) => ({ cursor, ids })
const read: PostList = { ...NO_CHANGES, pages: [first('5', '4'), later('4', '3')] }

test('posts added here come first, newest first, then the pages', () => {
  expect(listIds(addPost(addPost(read, '6'), '7'))).toEqual(['7', '6', '5', '4', '3'])
})

test('adding a post that the list has is an error', () => {
  expect(() => addPost(read, '4')).toThrow('Пост с id=4 уже существует')
  expect(() => addPost(addPost(read, '6'), '6')).toThrow('Пост с id=6 уже существует')
})

test('a post added here that a page brings too shows once', () => {
  const list = { ...addPost(read, '6'), pages: [first('6', '5'), later('5', '4')] }
  expect(listIds(list)).toEqual(['6', '5', '4'])
})

test('a removed post stays hidden when a later page still has it', () => {
  const list = removePost(read, '3')
  expect(listIds(list)).toEqual(['5', '4'])
  expect(listIds({ ...list, pages: [...list.pages, later('3', '3', '2')] })).toEqual([
    '5',
    '4',
    '2',
  ])
  expect(listIds(removePost(addPost(read, '6'), '6'))).toEqual(['5', '4', '3'])
  expect(hasPost(list, '3')).toBe(true)
})

test.each([
  ['the newest that is read', read, '5', false],
  ['a new post', read, '6', true],
  ['one that numbers, but not letters, put later', read, '10', true],
  ['one’s own post', addPost(read, '6'), '6', false],
  ['somebody’s post under one’s own', addPost(read, '7'), '6', true],
  ['one’s own deleted again', removePost(addPost(read, '6'), '6'), '6', false],
  ['the first post of an empty list', { ...read, pages: [first()] }, '1', true],
  ['a post for a list that is not read', { ...read, pages: [] }, '1', true],
] as const)('whether a post that is told of is new to the list: %s', (_, list, id, newer) => {
  expect(hasNewer(list, id)).toBe(newer)
})

const WALL = { name: 'wall', entryKey: 'a' } as const
const page = (cursor: string, ids: string[], total: number) => {
  return { cursor, ids, nextCursor: ids.at(-1) ?? null, total }
}

/** A wall of which the posts 5 and 4 are read, and how its pages are shown. */
function startWall(changes: Partial<LocalChanges> = {}) {
  const { client } = startLists(['wall', 'a', []])
  const pages = [page('', ['5', '4'], 5)]
  client.setQueryData<CachedPages>(pagesKey('wall', 'a'), { pages, pageParams: [''] })
  client.setQueryData<LocalChanges>(changesKey('wall', 'a'), { ...NO_CHANGES, ...changes })
  const shown = () => {
    const { pages = [] } = client.getQueryData<CachedPages>(pagesKey('wall', 'a')) ?? {}
    const local = client.getQueryData<LocalChanges>(changesKey('wall', 'a')) ?? NO_CHANGES
    return shownPages({ pages, ...local })
  }
  return { client, shown }
}

const OLD = { key: '4', cursor: '6', ids: ['5', '4'], isStop: true }

test('newer posts come above what was read, whose page keeps its key, and one’s own stands among them', () => {
  const { client, shown } = startWall({ added: ['8', '6'] })
  showNewer(client, WALL, page('', ['7', '6', '5', '4'], 7))
  expect(shown()).toEqual([{ key: '6', cursor: '', ids: ['8', '7', '6'], isStop: false }, OLD])
})

test('where newer posts do not reach what was read, a gap is between, and pages fill it', () => {
  const { client, shown } = startWall()
  showNewer(client, WALL, page('', ['11', '10'], 11))
  const newest = { key: '10', cursor: '', ids: ['11', '10'], isStop: false }
  expect(shown()).toEqual([{ ...newest, gap: { cursor: '10', size: 4 } }, OLD])
  fillGap(client, WALL, page('10', ['9', '8'], 11))
  const next = { key: '8', cursor: '10', ids: ['9', '8'], isStop: false }
  expect(shown()).toEqual([newest, { ...next, gap: { cursor: '8', size: 2 } }, OLD])
  fillGap(client, WALL, page('8', ['7', '5'], 10))
  expect(shown()).toEqual([newest, next, { key: '7', cursor: '8', ids: ['7'], isStop: false }, OLD])
})

test('a page whose posts were all removed still shows the gap below it', () => {
  const { client, shown } = startWall({ removed: ['11', '10'] })
  showNewer(client, WALL, page('', ['11', '10'], 11))
  expect(shown()).toMatchObject([{ ids: [], gap: { cursor: '10', size: 4 } }, OLD])
})

test('a page that fits no gap changes nothing', () => {
  const { client, shown } = startWall()
  const before = shown()
  fillGap(client, WALL, page('10', ['9', '8'], 11))
  expect(shown()).toEqual(before)
  fillGap(new QueryClient(), WALL, page('10', ['9', '8'], 11))
})

test('whether newer posts came is told', () => {
  const { client } = startWall()
  expect(showNewer(client, WALL, page('', [], 0))).toBe(false)
  expect(showNewer(client, WALL, page('', ['5', '4'], 5))).toBe(false)
  expect(showNewer(client, WALL, { ...page('', ['6', '5'], 6), nextCursor: null })).toBe(true)
  const { client: unread } = startLists()
  expect(showNewer(unread, WALL, page('', [], 0))).toBe(false)
  expect(showNewer(unread, WALL, page('', ['6'], 1))).toBe(true)
  const key = pagesKey('wall', 'a')
  expect(unread.getQueryData(key)).toEqual({ pages: [page('', ['6'], 1)], pageParams: [''] })
})

test('each page knows how many posts stand above it, counted from the page of which that was known', () => {
  const { client, shown } = startWall()
  showNewer(client, WALL, page('', ['11', '10'], 11))
  const above = (cursor: string, known: number) =>
    placePages(shown(), { cursor, above: known }).map((it) => it.above)
  expect(above('', 0)).toEqual([0, 6])
  expect(above('6', 8)).toEqual([2, 8])
  expect(above('3', 8)).toEqual([null, null])
  fillGap(client, WALL, page('10', ['9', '8', '7'], 7))
  expect(above('', 0)).toEqual([0, 2, 6])
  fillGap(client, WALL, page('7', ['5'], 7))
  expect(above('', 0)).toEqual([0, 2, 5])
})

test('where nothing is newer, or nothing was read, no line says where the person stopped', () => {
  const { client, shown } = startWall()
  showNewer(client, WALL, page('', ['5', '4'], 5))
  expect(shown()).toEqual([{ ...OLD, cursor: '', isStop: false }])
  const empty = startLists(['wall', 'a', []])
  showNewer(empty.client, WALL, page('', ['6'], 1))
  expect(empty.changes('wall', 'a')).toEqual(NO_CHANGES)
})

test('whatever is added and removed, no id shows twice and no removed one shows', () => {
  const step = fc.record({ add: fc.boolean(), id: fc.integer({ min: 1, max: 20 }).map(String) })
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      let list = read
      for (const { add, id } of steps) {
        if (!add) list = removePost(list, id)
        else if (!hasPost(list, id)) list = addPost(list, id)
      }
      const shown = listIds(list)
      expect(new Set(shown).size).toBe(shown.length)
      expect(shown.filter((id) => list.removed.includes(id))).toEqual([])
    }),
  )
})

test('posts added here stand in the first page, and nowhere while a later one is the first that is read', () => {
  const list = addPost(read, '6')
  expect(listIds(list)).toEqual(['6', '5', '4', '3'])
  expect(listIds({ ...list, pages: read.pages.slice(1) })).toEqual(['3'])
})

test('a page keeps its key as the list grows, and goes when it has no post left to show', () => {
  const keys = (list: PostList) => shownPages(list).map(({ key }) => key)
  const more = { ...read, pages: [...read.pages, later('3', '3', '2')] }
  expect(keys(addPost(more, '6'))).toEqual(['4', '3', '2'])
  expect(keys(removePost(more, '3'))).toEqual(['4', '2'])
})

test('a page that shows all of its posts keeps its array, of which no card is rendered again', () => {
  const [first, second] = shownPages(removePost(read, '5'))
  expect(first?.ids).toEqual(['4'])
  expect(second?.ids).toBe(read.pages[1]?.ids)
  expect(shownPages(read)[0]?.ids).toBe(read.pages[0]?.ids)
})
